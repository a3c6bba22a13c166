import base from './vitest.config.ts';
const m: any = structuredClone({});
Object.assign(m, base); m.test = { ...(base as any).test, execArgv: [...(base as any).test.execArgv, ...(process.env.GCF ?? '').split(' ').filter(Boolean)] };
export default m;
