/** The API reference: one page for each entry of each package, from the docstrings. */
import { Application, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { entriesOf, packagesIn } from '../workspace.ts';

/** Name of an entry's page, such as `rewards-stock` of `@rlp/rewards/stock`. */
export function apiPageOf(specifier: string): string {
  return specifier.replace('@rlp/', '').replaceAll('/', '-');
}

/** Writes the reference into a folder. @throws if a docstring links to something that does not exist. */
export async function writeApi(folder: string): Promise<readonly string[]> {
  const entries = packagesIn('packages').flatMap(entriesOf);
  const options: TypeDocOptions & PluginOptions = {
    entryPoints: entries.map(({ source }) => source),
    tsconfig: 'tsconfig.json',
    plugin: ['typedoc-plugin-markdown'],
    outputFileStrategy: 'modules',
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    skipErrorChecking: true,
    disableSources: true,
    disableGit: true,
    readme: 'none',
    githubPages: false,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    sanitizeComments: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    enumMembersFormat: 'table',
    typeDeclarationFormat: 'table',
    logLevel: 'Error',
    out: folder,
    outputs: [{ name: 'markdown', path: folder }],
    cleanOutputDir: false,
  };
  const application = await Application.bootstrapWithPlugins(options as TypeDocOptions);
  const project = await application.convert();
  if (project === undefined) throw new Error('site: typedoc could not read the packages');
  for (const [index, module] of (project.children ?? []).entries()) {
    const entry = entries.find(({ source }) => module.sources?.[0]?.fullFileName.endsWith(source));
    module.name = apiPageOf(entry?.specifier ?? entries[index]!.specifier);
  }
  await application.generateOutputs(project);
  return entries.map(({ specifier }) => specifier);
}
