/** Style of the page of runs, beside that of every page. */
export const runsStyle = `
main{max-width:1500px}
.problem{color:var(--bad);margin:6px 0}
table.runs th[scope=row]{overflow-wrap:anywhere;min-width:12ch}
button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--rule);border-radius:7px;padding:4px 10px;cursor:pointer}
button.small,.as-table{font-size:12px;padding:1px 8px}
.key{display:flex;align-items:center;gap:7px;white-space:nowrap;font-size:12.5px}
.swatch{display:inline-block;width:20px;height:0;border-top:3px solid currentColor}.swatch.dashed{border-top-style:dashed}
.controls{display:flex;flex-wrap:wrap;gap:10px 18px;align-items:end;margin:0 0 14px}
.controls label{display:grid;gap:3px;font-size:12.5px;color:var(--soft);min-width:0}
.controls label.check{display:flex;align-items:center;gap:6px;padding-bottom:5px}
.controls input,.controls select{font:inherit;font-size:14px;color:var(--ink);background:var(--card);border:1px solid var(--rule);border-radius:7px;padding:4px 8px;max-width:100%}
.controls input[type=range]{padding:0}
.chart{position:relative}.blank{height:190px}.plot{width:100%;min-height:190px}
.charts+details,details+details{margin-top:10px}details>.charts{margin-top:10px}
.as-table{position:absolute;right:12px;top:10px}
.chart figcaption{padding-right:56px}
.readout{display:flex;flex-wrap:wrap;gap:2px 14px;list-style:none;margin:2px 0 6px;padding:0;font-size:12.5px;font-variant-numeric:tabular-nums;min-height:19px}
.u-cursor-x{border-right-color:var(--soft)!important}.u-select{background:color-mix(in srgb,var(--s0) 18%,transparent)!important}
.differences{table-layout:fixed;overflow-wrap:anywhere}.differences thead th{white-space:normal}.differences th:first-child{width:22%}.scroll+.scroll{margin-top:16px}
.interval{position:relative;height:14px;width:160px;max-width:100%;background:linear-gradient(var(--rule),var(--rule)) center/100% 1px no-repeat}
.interval i{position:absolute;top:5px;height:4px;background:var(--s0);opacity:.45;border-radius:2px}
.interval b{position:absolute;top:1px;width:2px;height:12px;margin-left:-1px;background:var(--s0)}
@media (max-width:600px){.scroll:has(.stack){max-height:70vh}.swatch{width:28px}.as-table{padding:4px 12px}}
@media print{.differences{min-width:0!important}.differences td,.differences th{padding:4px 8px;font-size:12px}.controls,.as-table,button.small,td:has(>.key) input{display:none}.charts{grid-template-columns:1fr 1fr}}
`;
