/** Style sheet of every page, for light, dark and print. */
export const style = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1c2330;--soft:#5b6577;--rule:#dfe3ea;--grid:#e9ecf1;
--good:#0b7a4b;--bad:#b3261e;--s0:#2f5fd0;--s1:#c2570c;--s2:#0b7a4b;--s3:#a4269a;--s4:#6b5bd6;--s5:#8a6d00;--focus:#2f5fd0}
@media (prefers-color-scheme:dark){:root{--page:#12151b;--card:#1b2029;--ink:#e6e9ef;--soft:#9aa4b5;--rule:#2e3542;--grid:#272d38;
--good:#5fd39b;--bad:#ff8a80;--s0:#7aa2ff;--s1:#ff9d5c;--s2:#5fd39b;--s3:#ef86e4;--s4:#aa9dff;--s5:#e2c044;--focus:#7aa2ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:1080px;margin:0 auto;padding:40px 24px 64px}
h1{font-size:28px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:18px;margin:44px 0 14px}
h3{font-size:14px;font-weight:600;margin:0;min-width:0;overflow-wrap:anywhere}
.lead{color:var(--soft);margin:0;max-width:72ch}
.summary{display:grid;grid-template-columns:repeat(auto-fill,minmax(160px,1fr));gap:12px;margin:28px 0 0}
.summary div{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 14px}
dt{color:var(--soft);font-size:12.5px}
dd{margin:2px 0 0;font-size:21px;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
dd small{font-size:13px;font-weight:400;color:var(--soft);white-space:nowrap}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr));gap:16px}
figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:14px 14px 8px;break-inside:avoid}
figcaption{display:flex;justify-content:space-between;align-items:baseline;gap:12px;margin-bottom:8px}
.latest{font-variant-numeric:tabular-nums;color:var(--soft);font-size:13px;white-space:nowrap}
svg{display:block;width:100%;height:auto}
.grid{stroke:var(--grid);stroke-width:1}
.tick{fill:var(--soft);font-size:13px;font-variant-numeric:tabular-nums}
path{fill:none;stroke-linejoin:round;stroke-linecap:round}
.line{stroke:currentColor;stroke-width:2}.raw{stroke:currentColor;stroke-width:1;opacity:.28}circle{fill:currentColor}

.level-line{stroke:var(--bad);stroke-width:1;stroke-dasharray:4 3}
path.band{fill:currentColor;opacity:.14}
.alert-low{fill:var(--soft);opacity:.16}.alert-medium{fill:var(--s5);opacity:.22}.alert-high{fill:var(--s1);opacity:.26}.alert-critical{fill:var(--bad);opacity:.26}
.badge{display:inline-block;border:1px solid currentColor;border-radius:5px;padding:0 6px;font-size:12px;font-weight:600;white-space:nowrap}
.badge-low{color:var(--soft)}.badge-medium{color:var(--s5)}.badge-high{color:var(--s1)}.badge-critical{color:var(--bad)}
mark{background:color-mix(in srgb,var(--s5) 32%,transparent);color:inherit;border-radius:3px}
.series-0{color:var(--s0)}.series-1{color:var(--s1)}.series-2{color:var(--s2)}.series-3{color:var(--s3)}.series-4{color:var(--s4)}.series-5{color:var(--s5)}
.legend{display:flex;flex-wrap:wrap;gap:6px 18px;list-style:none;margin:0 0 14px;padding:0;font-size:13.5px}
.legend span{display:inline-block;width:16px;height:3px;border-radius:2px;background:currentColor;vertical-align:middle;margin-right:7px}
.legend b{font-weight:400;color:var(--ink)}
details{margin-top:16px}details:has(+pre){margin-top:0}summary{cursor:pointer;color:var(--soft);font-size:14px;border-radius:4px;width:fit-content}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px}
.scroll{overflow:auto;max-height:460px;border:1px solid var(--rule);border-radius:10px;background:var(--card);margin-top:10px}
.scroll.tall{max-height:none}
table{border-collapse:collapse;width:100%;font-size:13.5px}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:8px 12px;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
tr:last-child td,tr:last-child th{border-bottom:0}
thead th{position:sticky;top:0;background:var(--card);font-size:12.5px;font-weight:600;color:var(--soft);white-space:nowrap;box-shadow:0 1px 0 var(--rule)}
.numbers td,.numbers tbody th{text-align:right;font-variant-numeric:tabular-nums;font-weight:400;white-space:nowrap}
.numbers thead th{text-align:right}
pre{margin:0;font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;min-width:14ch}
.text{min-width:min(60vw,36ch)}
.mark{display:block;font-size:12px;font-weight:600;margin-top:5px;font-variant-numeric:tabular-nums}
.up{color:var(--good)}.down{color:var(--bad)}.level{color:var(--soft)}
.empty,footer{color:var(--soft);font-size:13px}footer{margin-top:44px}
@media (max-width:600px){main{padding:24px 14px 48px}button,select{min-height:40px;padding-inline:14px}.stack,.stack tbody,.stack tr,.stack td,.stack tbody th{display:block;width:100%}.stack thead{display:none}
.stack tr{padding:10px 12px;border-bottom:1px solid var(--rule)}.stack td,.stack tbody th{border:0;padding:2px 0}.stack .text{min-width:0}.scroll:has(.stack){max-height:none}
.stack [data-label]::before{content:attr(data-label) " ";color:var(--soft);font-weight:400;font-size:12.5px}.stack td:empty{display:none}}
@media print{*{print-color-adjust:exact;-webkit-print-color-adjust:exact}:root{--page:#fff;--card:#fff;--ink:#000;--soft:#444;--rule:#bbb;--grid:#ddd;--s0:#2f5fd0;--s1:#c2570c;--s2:#0b7a4b}
main{padding:0;max-width:none}.scroll{max-height:none;overflow:visible}thead th{position:static;background:none;box-shadow:none}.charts{grid-template-columns:1fr 1fr}tr{break-inside:avoid}h2{break-after:avoid}td,tbody th{white-space:normal;overflow-wrap:break-word}td:last-child{overflow-wrap:anywhere}.legend{break-after:avoid}}
`;
