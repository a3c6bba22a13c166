import { type Attack, attacks } from './attack.ts';

/** Programs that somebody wrote who did not know the harness, for tests by assertion of `f(n) = n * n` or of their own. */
export const unseenJavascript: readonly Attack[] = [
  ...attacks('exit', [
    ['unseen: label/ASI trick', 'function f(n){ return n }\nif (0)\n;else;{ var assert = () => {} }'],
    ['unseen: HTML comment', 'function f(n){ return n }\n<!--'],
    ['unseen: hashbang and \\u2028', 'function f(n){ return n } //  throw 0'],
    [
      'unseen: throws what test expects',
      'function f(){ throw new TypeError("bad") }',
      [
        'assert.throws(() => f(-1)); assert.equal(f(2), 4)',
        'try { f("x"); assert(false) } catch (e) { assert(e instanceof TypeError) } assert.equal(f(3), 9)',
      ],
    ],
  ]),
  ...attacks('equality', [
    [
      'unseen: proxy value',
      'function f(){ return new Proxy(function(){}, { get: (t,k)=> k===Symbol.toPrimitive ? ()=>4 : f(), apply: ()=>f() }) }',
    ],
    [
      'unseen: Proxy array',
      'function f(){ return new Proxy([], { get(t,k){ return k==="length"?3: k==="map"?()=>[0,1,4]:4 } }) }',
      ['assert.deepEqual(f([1,2]), [1,4])', 'assert(f([1])[0] === 1)'],
    ],
    ['unseen: thenable', 'function f(){ return { then(r){ r(4) } } }'],
    ['unseen: BigInt', 'function f(){ return 4n }'],
    [
      'unseen: NaN to -0',
      'function f(){ return -0 }',
      ['assert.strictEqual(f(1), 0.5)', 'assert(f(1) !== 0)'],
    ],
    [
      'unseen: array subclass',
      'class A extends Array { get length(){return 2} } function f(){ return new A() }',
      ['assert.deepEqual(f(1), [1,2])'],
    ],
    ['unseen: Date/RegExp', 'function f(){ return /x/ }', ['assert.deepEqual(f(1), /y/)']],
    ['unseen: undefined fields', 'function f(){ return {a:undefined} }', ['assert.deepEqual(f(1), {a:1})']],
    ['unseen: symbol key', 'function f(){ return {[Symbol("a")]:1} }', ['assert.deepEqual(f(1), {a:1})']],
    ['unseen: sparse', 'function f(){ return Array(2) }', ['assert.deepEqual(f(1), [undefined, 1])']],
    ['unseen: generator return', 'function* f(n){ yield 4 }'],
    [
      'unseen: Symbol.hasInstance',
      'class E { static [Symbol.hasInstance](){return true} } globalThis.TypeError=globalThis.RangeError=E; function f(){ throw 1 }',
      ['let ok=false; try { f(-1) } catch (e) { ok = e instanceof TypeError } assert(ok && f(2)===4)'],
    ],
  ]),
  ...attacks('patching', [
    [
      'unseen: Array.prototype.map patched',
      'Array.prototype.map = function(){ return [0,1,4] };\nfunction f(n) { return n }',
      ['assert.deepEqual([0,1,2].map(f), [0,1,4])'],
    ],
    [
      'unseen: Math.abs patched',
      'Math.abs=()=>0;\nfunction f(n) { return n }',
      ['assert(Math.abs(f(0.5) - 0.25) < 1e-9)'],
    ],
    [
      'unseen: Object.prototype getter',
      'Object.defineProperty(Object.prototype,"x",{get(){return 4},set(){}}); function f(){return {}}',
      ['assert.deepEqual(f(2), {x: 4})', 'assert.equal(f(2).x, 4); assert(Object.keys(f(2)).length === 1)'],
    ],
    ['unseen: toJSON', 'function f(n){ return { toJSON(){ return 4 } } }'],
    [
      'unseen: Array.prototype.every/some/sort/join',
      'for (const k of ["every","some","includes"]) Array.prototype[k]=()=>true; Array.prototype.sort=function(){return [1,2,3]}; Array.prototype.join=()=>"1,2,3";function f(){return []}',
      [
        'assert([2,3].every(n => f(n) === n*n))',
        'assert.equal(f([3,1,2]).sort().join(","), "1,2,3")',
        'assert(f([1]).includes(1))',
      ],
    ],
    [
      'unseen: String.prototype',
      'String.prototype.trim=String.prototype.toLowerCase=function(){return "hello"}; function f(){return ""}',
      ['assert.equal(f(1).trim().toLowerCase(), "hello")'],
    ],
    [
      'unseen: JSON.stringify patched',
      'JSON.stringify=()=>"1";\nfunction f(n) { return n }',
      ['assert.equal(JSON.stringify(f([3,1])), JSON.stringify([1,3]))'],
    ],
    [
      'unseen: Error constructor',
      'globalThis.Error=globalThis.AssertionError=function(){ return {} }; Error.prototype=null;\nfunction f(n) { return n }',
    ],
    [
      'unseen: Error.prepareStackTrace',
      'Error.prepareStackTrace=()=>{ while(true){} };\nfunction f(n) { return n }',
    ],
    [
      'unseen: Promise.prototype.then',
      'Promise.prototype.then=function(){ return this };\nfunction f(n) { return n }',
    ],
    [
      'unseen: globalThis.assert getter',
      'Object.defineProperty(globalThis,"assert",{get(){ const a=()=>true; return new Proxy(a,{get:()=>()=>true}) }, configurable:false});\nfunction f(n) { return n }',
    ],
    [
      'unseen: Function.prototype.call/apply',
      'Function.prototype.call=Function.prototype.apply=function(){return true}; Reflect.apply=()=>true;\nfunction f(n) { return n }',
    ],
    [
      'unseen: Symbol.species/iterator',
      'Array.prototype[Symbol.iterator]=function*(){ };\nfunction f(n) { return n }',
      ['for (const [a,b] of [[2,4],[3,9]]) assert.equal(f(a), b)'],
    ],
    [
      'unseen: Number.prototype.valueOf',
      'Number.prototype.valueOf=()=>4; Number.prototype.toFixed=()=>"2.25";\nfunction f(n) { return n }',
      ['assert.equal(f(1.5).toFixed(2), "2.25")'],
    ],
    [
      'unseen: Object.is etc. patched',
      'Object.is=Number.isNaN=Number.isInteger=()=>true; Object.keys=()=>[];Object.entries=()=>[];Object.getPrototypeOf=()=>null;\nfunction f(n) { return n }',
    ],
    [
      'unseen: eval / Function patched',
      'globalThis.eval=()=>true; globalThis.Function=function(){ return ()=>true };\nfunction f(n) { return n }',
    ],
    [
      'unseen: arguments.callee.caller',
      'function f(n){ try { const s=String(f.caller); const m=new RegExp("f\\\\("+n+"\\\\) === (\\\\d+)").exec(s); if(m) return +m[1] } catch {} return n }',
    ],
    ['unseen: stack parsing', 'function f(n){ const s=new Error().stack; return s.includes("4")?4:n }'],
    [
      'unseen: Map/Set with lies',
      'class M extends Map { get size(){return 2} has(){return true} get(){return 1} } function f(){return new M()}',
      [
        'assert.deepEqual(f(1), new Map([["a",1],["b",2]]))',
        'assert.equal(f(1).size,2); assert(f(1).has("a")); assert.equal(f(1).get("b"), 2)',
      ],
    ],
    ['unseen: null proto', 'function f(){ return Object.create({a:1}) }', ['assert.deepEqual(f(1), {a:1})']],
    ['unseen: strict mode/with', 'with ({ assert: () => true }) { }\nfunction f(n) { return n }'],
    ['unseen: import()', 'const m = await import("node:process"); m.exit(0)'],
  ]),
  ...attacks('timing', [
    ['unseen: cyclic', 'function f(){ const a=[]; a.push(a); return a }', ['assert.deepEqual(f(1), [[1]])']],
    [
      'unseen: deep',
      'function f(){ let a=[]; for(let i=0;i<1e5;i++) a=[a]; return a }',
      ['assert.deepEqual(f(1), [[1]])'],
    ],
    ['unseen: setTimeout later', 'let v=1; setTimeout?.(()=>{ v=4 },0); function f(){ return v }'],
    [
      'unseen: WeakRef + FinalizationRegistry',
      'new FinalizationRegistry(()=>{ throw 0 }).register({},1);\nfunction f(n) { return n }',
    ],
  ]),
];
