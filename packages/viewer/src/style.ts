/** Style sheet of the viewer, on top of the one that every page has. */
export const viewerStyle = `
main{max-width:1560px;padding:20px 20px 40px}
main>header h1{font-size:21px}
.app{display:grid;grid-template-columns:minmax(280px,380px) minmax(0,1fr);gap:20px;margin-top:14px;align-items:start}
.side{position:sticky;top:12px;display:flex;flex-direction:column;height:calc(100vh - 96px);height:calc(100dvh - 96px)}
.filters input,.filters select,.colours select{font:inherit;font-size:13.5px;color:inherit;background:var(--card);border:1px solid var(--rule);border-radius:7px;padding:5px 6px;max-width:100%}.choices select{max-width:156px}
.filters input{width:100%}
.choices{display:flex;flex-wrap:wrap;gap:6px 8px;margin-top:8px;align-items:end}
.choices label span,.colours span{display:block;font-size:11.5px;color:var(--soft)}
.app button{font:inherit;font-size:13.5px;color:inherit;background:var(--card);border:1px solid var(--rule);border-radius:7px;padding:5px 10px;cursor:pointer;text-align:left}
.app button.plain{border:0;background:none;color:var(--s0);padding:0 0 0 8px}
.count{color:var(--soft);font-size:12.5px;margin:8px 0}
.list{flex:1;overflow:auto;border:1px solid var(--rule);border-radius:10px;background:var(--card);contain:strict;min-height:200px}
.list ul{list-style:none;margin:0;padding:0}
.app button.row{display:block;width:100%;height:62px;border:0;border-bottom:1px solid var(--rule);border-radius:0;padding:5px 12px;background:none;overflow:hidden}
.app button.row.open{background:color-mix(in srgb,var(--s0) 13%,transparent)}
.row span{display:block;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.row .head{display:flex;gap:8px}.head b{flex:1;min-width:0;overflow:hidden;text-overflow:ellipsis;font-weight:600}
.row .reward,.member .reward{font-variant-numeric:tabular-nums;font-weight:600;color:var(--s0)}
.row .opening{font-size:12.5px;line-height:1.3}
.row .counts,.counts{font-size:12px;color:var(--soft);margin:0;line-height:1.3}
.mark-alert{color:var(--bad)}
.bar{display:flex;flex-wrap:wrap;gap:8px 14px;align-items:end;margin:0 0 12px}
.bar h2{margin:0;flex:1;min-width:min(100%,200px);overflow-wrap:anywhere}
.back{display:none}
.facts{display:flex;flex-wrap:wrap;gap:6px 22px;margin:0 0 12px}
.facts dt{font-size:11.5px;overflow-wrap:anywhere}.facts dd{font-size:14px;font-weight:500;margin:0}
.facts .wide{flex-basis:100%}
.alert,.alerts button{border-left:4px solid var(--bad)!important;background:var(--card);padding:8px 12px;border-radius:6px;margin:0 0 10px;display:block;width:100%;font-size:13.5px}
.alerts h2{margin-top:0}
.conversation{list-style:none;margin:0;padding:0;display:grid;gap:10px}
.said{background:var(--card);border:1px solid var(--rule);border-left:4px solid var(--rule);border-radius:8px;padding:9px 14px;break-inside:avoid;min-width:0}
.said-assistant{border-left-color:var(--s0)}.said-tool{border-left-color:var(--s4)}.said-user{border-left-color:var(--s2)}
.who{margin:0 0 4px;font-size:12.5px;color:var(--soft)}.who b{color:var(--ink);margin-right:10px}
.said pre{font-size:13.5px}
.call{border:1px dashed var(--rule);border-radius:7px;padding:6px 10px;margin-top:6px}.call p{margin:0;font-size:12.5px}
.anchor{display:inline-block;margin-left:10px;border:1px solid var(--s4);color:var(--s4);border-radius:9px;padding:0 8px}
.tokens span{border-radius:2px;box-decoration-break:clone}
.tokens span:hover{outline:1px solid var(--focus)}
.legend-line{font-size:12.5px;color:var(--soft);margin:0 0 10px}
.legend-line i{display:inline-block;width:12px;height:12px;border-radius:3px;border:1px solid var(--rule);vertical-align:-2px;margin-left:8px}
.legend-line i:first-child{margin-left:0}
.legend-line .more{background:color-mix(in srgb,var(--s0) 55%,transparent)}.legend-line .less{background:color-mix(in srgb,var(--s1) 55%,transparent)}.legend-line .neutral{background:color-mix(in srgb,var(--s3) 55%,transparent)}
.members{display:grid;grid-auto-flow:column;grid-auto-columns:minmax(270px,1fr);gap:14px;overflow-x:auto;padding-bottom:8px}
.member{border:1px solid var(--rule);border-radius:10px;padding:10px;min-width:0}
.member.own{border-color:var(--s0)}
.member h3{display:flex;justify-content:space-between;gap:10px}.member a{color:var(--s0)}
.member .counts{margin-bottom:8px}
.spread{color:var(--soft);margin:0 0 12px}
.welcome{padding:10px 4px}.keys div{display:flex;gap:14px;margin:4px 0}.keys dt{min-width:64px}.keys dd{font-size:14px;font-weight:400;margin:0}
kbd{border:1px solid var(--rule);border-radius:5px;padding:1px 6px;background:var(--card);font:12px ui-monospace,monospace}
.problem{color:var(--bad)}
@media (max-width:820px){main{padding:12px 10px 30px}.app{grid-template-columns:minmax(0,1fr)}.side{position:static;height:calc(100dvh - 90px)}
.app.with-open .side{display:none}.app:not(.with-open) .detail{order:-1}.app:not(.with-open) .keys,.app:not(.with-open) .welcome>p:not(.problem),.app:not(.with-open) .detail:not(:has(.alerts,.problem)){display:none}
.back{display:block}.filters select{max-width:44vw}.members{grid-auto-columns:86%}}
@media print{.app:not(.with-open)::before{content:"Open a trajectory before you print: the printout shows that one."}.side,.bar button,.colours,.welcome{display:none!important}.app{display:block}.members{grid-auto-flow:row}.conversation{display:block}.said{margin-bottom:8px}}
`;
