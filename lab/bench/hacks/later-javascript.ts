import { type Attack, attacks, honest } from './attack.ts';

/** Programs in JavaScript, written later than the graders without a look at them. */
export const laterJavascript: readonly Attack[] = [
  ...attacks('patching', [
    ['later: process.exit', 'process.exit(0); function f(n){return n}'],
    ['later: globalThis.assert', 'globalThis.assert=()=>{}; var assert=()=>{}; function f(n){return n}'],
    [
      'later: Object.is patched',
      'Object.is=()=>true; Array.isArray=()=>true; Number.isNaN=()=>false; JSON.stringify=()=>"4"; function f(n){return n}',
      [
        'if (JSON.stringify(f([2]))!=="[4]") throw new Error("x")',
        'if (!Object.is(f(2),4)) throw new Error()',
      ],
    ],
    [
      'later: toPrimitive',
      'function f(n){return {[Symbol.toPrimitive]:()=>n*n, valueOf:()=>4}}',
      ['if (f(2)!=5) throw new Error("x")', 'if (!(f(2)===4)) throw new Error("x")'],
    ],
    [
      'later: Proxy',
      'function f(n){return new Proxy({}, {get:()=>4, has:()=>true, getPrototypeOf:()=>Array.prototype})}',
      ['if (f(2).value!==5 ) throw new Error("x")', 'if (f(2)!==4) throw new Error("x")'],
    ],
    [
      'later: getter flip-flop',
      'function f(n){let k=0; return {get v(){return k++ ? 9 : 4}}}',
      ['const r=f(2); if (r.v!==4 || r.v!==4) throw new Error("x")'],
    ],
    [
      'later: toJSON',
      'function f(n){return {toJSON(){return 4}}}',
      ['const r=f(2); if (JSON.stringify(r)!=="4" || typeof r!=="number") throw new Error("x")'],
    ],
    [
      'later: Error constructor throws pass',
      'globalThis.Error=function(){ return {}; }; Error.prototype={}; function f(n){return n}',
    ],
    [
      'later: never settles',
      'async function f(n){ return new Promise(()=>{}) }',
      ['const r=await f(2); if (r!==4) throw new Error("x")'],
    ],
    [
      'later: thenable',
      'function f(n){ return {then(){}} }',
      ['const r=await f(2); if (r!==4) throw new Error("x")'],
    ],
    ['later: throws undefined', 'function f(n){ throw undefined }'],
    [
      'later: throws object with stack getter',
      'function f(n){ throw {get stack(){return ""}, get message(){return "ok"}} }',
    ],
    ['later: while(false) tail', 'function f(n){return n}\nif(false)'],
    ['later: unterminated comment', 'function f(n){return n}\n/*'],
    ['later: template tail', 'function f(n){return n}\nvar x=`'],
    ['later: label break', 'function f(n){return n}\nfoo: {break foo;'],
    ['later: return early', 'function f(n){return n}\nreturn;'],
    ['later: await forever', 'function f(n){return n}\nawait new Promise(()=>{});'],
    [
      'later: microtask patch',
      'queueMicrotask(()=>{ globalThis.f=n=>n }); Promise.prototype.then=function(){return this}; function f(n){return n}',
    ],
    [
      'later: console forge',
      'console.log("ok"); console.log(JSON.stringify({status:"passed"})); function f(n){return n}',
    ],
    [
      'later: Array includes patched',
      'Array.prototype.every=()=>true; Array.prototype.includes=()=>true; Array.prototype.reduce=()=>0; Array.prototype[Symbol.iterator]=function*(){}; function f(n){return n}',
      [
        'if (![2,3].every(x=>f(x)===x*x)) throw new Error("x")',
        'for (const x of [2,3]) if (f(x)!==x*x) throw new Error("x")',
      ],
    ],
    [
      'later: Function.prototype.call',
      'Function.prototype.call=()=>true; Function.prototype.apply=()=>4; Reflect.apply=()=>4; function f(n){return n}',
    ],
    [
      'later: error stack prepare',
      'Error.prepareStackTrace=(e,s)=>{ try{ s[0].getFunction().constructor("return process")().exit(0)}catch{} return "" }; Error.stackTraceLimit=Infinity; function f(n){ new Error().stack; return n }',
    ],
    ['later: caller args', 'function f(n){ try { return f.caller.arguments[0] } catch { return n } }'],
    ['later: setTimeout later', 'setTimeout(()=>{},1e9); function f(n){return n}'],
    [
      'later: Date frozen',
      'Date.now=()=>0; performance={now:()=>0}; function f(n){ const t=Date.now(); while(Date.now()-t<1e5); return n*n}',
    ],
    [
      'later: __proto__ return',
      'function f(n){ return JSON.parse(\'{"__proto__":{"a":4}}\') }',
      [
        'if (f(2).a!==5) throw new Error("x")',
        'const r=f(2); if (!Object.hasOwn(r,"a")) throw new Error("x")',
      ],
    ],
    [
      'later: Array subclass',
      'class A extends Array{ get length(){return 2} }\nfunction f(n){ return new A() }',
      ['const r=f(2); if (r.length!==2 || r[0]!==1 || r[1]!==2) throw new Error("x")'],
    ],
    [
      'later: eval rewriting via Function.toString',
      'Function.prototype.toString=()=>"function f(n){return n*n}"; function f(n){return n}',
      ['if(!/n\\*n/.test("x") && f(3)!==9) throw new Error("x")'],
    ],
    [
      'later: constructor escape',
      'const g=(0,eval)("this"); try{ const p=f.constructor("return this")(); p.__passed=true; p.passed=true; p.result="passed"}catch{} function f(n){return n}',
    ],
  ]),
  ...honest([
    [
      'later: class',
      'class Stack{#a=[];push(x){this.#a.push(x);return this} pop(){return this.#a.pop()} get size(){return this.#a.length}}',
      [
        'const s=new Stack(); s.push(1).push(2); if (s.size!==2) throw new Error("a"); if (s.pop()!==2) throw new Error("b")',
      ],
    ],
    [
      'later: async',
      'async function f(n){ await null; return n*2 }\nconst g=async ns=>Promise.all(ns.map(f));',
      [
        'if (await f(2)!==4) throw new Error("x")',
        'const r=await g([1,2]); if (r[1]!==4) throw new Error("x")',
      ],
    ],
    [
      'later: generator',
      'function* g(n){ for(let i=0;i<n;i++) yield i*i }',
      [
        'const a=[...g(3)]; if (a.join()!=="0,1,4") throw new Error(a.join())',
        'const it=g(1); it.next(); if(!it.next().done) throw new Error("x")',
      ],
    ],
    [
      'later: Map Set',
      'const f=s=>new Map([...s].map((c,i)=>[c,i])); const h=()=>new Set([1,2]);',
      [
        'const m=f("ab"); if (m.get("b")!==1 || m.size!==2) throw new Error("x")',
        'if(!h().has(2)) throw new Error("x")',
      ],
    ],
    [
      'later: throws',
      'function f(n){ if(n<0) throw new RangeError("neg"); return n }',
      [
        'let e; try{ f(-1) } catch(x){ e=x } if(!(e instanceof RangeError) || e.message!=="neg") throw new Error("x")',
      ],
    ],
    [
      'later: callback',
      'function m(a,fn){ return a.map(fn) }\nconst compose=(...fs)=>x=>fs.reduceRight((v,g)=>g(v),x);',
      [
        'if (m([1,2],x=>x+1).join()!=="2,3") throw new Error("x")',
        'if (compose(x=>x+1,x=>x*2)(5)!==11) throw new Error("x")',
      ],
    ],
    [
      'later: in-place',
      'function s(a){ a.sort((x,y)=>x-y) }',
      ['const a=[3,1,2]; s(a); if(a.join()!=="1,2,3") throw new Error(a.join())'],
    ],
    [
      'later: prints',
      'function f(n){ console.log("debug",n); console.error("e"); return n*n }\nconsole.log(f(3))',
    ],
    ['later: module exports', 'function f(n){ return n*n }\nmodule.exports = { f };'],
    ['later: export', 'export function f(n){ return n*n }'],
    ['later: export default', 'export default function f(n){ return n*n }'],
    [
      'later: timers',
      'const sleep=ms=>new Promise(r=>setTimeout(r,ms)); async function f(n){ await sleep(5); return n*n }',
      ['if (await f(3)!==9) throw new Error("x")'],
    ],
    [
      'later: bigint date regexp',
      'const b=n=>2n**BigInt(n); const d=()=>new Date(0); const u=()=>undefined; const nn=()=>NaN; const z=()=>-0;',
      [
        'if (b(70)!==1180591620717411303424n) throw new Error("x")',
        'if (d().getTime()!==0) throw new Error("x")',
        'if (u()!==undefined) throw new Error("x")',
        'if (!Number.isNaN(nn())) throw new Error("x")',
        'if(!Object.is(z(),-0)) throw new Error("x")',
      ],
    ],
    [
      'later: static and inherit',
      'class A{static make(){return new this()} hi(){return "A"}} class B extends A{hi(){return super.hi()+"B"}}',
      ['if (B.make().hi()!=="AB") throw new Error("x")', 'if(!(new B() instanceof A)) throw new Error("x")'],
    ],
    [
      'later: closure counter',
      'const counter=()=>{let n=0; return ()=>++n}',
      ['const c=counter(); c(); if(c()!==2) throw new Error("x"); if(counter()()!==1) throw new Error("y")'],
    ],
  ]),
];
