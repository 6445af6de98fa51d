import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OfflineTerraform } from './offline/run-terraform.ts';

/** Where the module stands in this repository. */
export const terraformFolder = fileURLToPath(new URL('../../terraform', import.meta.url));

/** The module and every configuration that uses it, as paths below `folder`; '' is the module. */
export async function rootsIn(folder: string): Promise<string[]> {
  const parents = ['environments', 'examples'];
  const below = await Promise.all(
    parents.map(async (parent) => {
      const entries = await readdir(join(folder, parent), { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(parent, name));
    }),
  );
  return ['', ...below.flat()];
}

/** What resources must wait for. Terraform cannot find it: to it any order is valid, the first apply fails. */
const waits: readonly [RegExp, string, string][] = [
  [/^google_(?!project_service\.)/, 'time_sleep.apis', 'its API is enabled'],
  [/^google_cloudfunctions2_function\./, 'time_sleep.rights', 'its accounts get their rights'],
  [/^google_monitoring_slo\./, 'time_sleep.metrics', 'its metrics are made'],
];

/** Resources that do not wait as they must, in what `terraform graph` prints: one line for each. */
function impatientIn(graph: string): string[] {
  const edges = [...graph.matchAll(/^ *"(\S+)" -> "(\S+)";$/gm)];
  const isBehind = (resource: string, awaited: string): boolean =>
    edges.some(
      ([, from, to = '']) => from === resource && (to === awaited || isBehind(to, awaited)),
    );
  return [...graph.matchAll(/^ *"(\S+)" \[/gm)].flatMap(([, resource = '']) =>
    waits
      .filter(([pattern, awaited]) => pattern.test(resource) && !isBehind(resource, awaited))
      .map(
        ([, awaited, why]) => `${resource} does not wait for ${awaited}: ${why} by the same apply`,
      ),
  );
}

export interface CheckResult {
  name: string;
  isPassed: boolean;
  /** What is wrong, where something is. */
  output: string;
}

/** Formats and validates `terraform/` or a copy of it, step by step, and looks at the order of an apply. */
export async function* checkTerraform(
  terraform: OfflineTerraform,
  folder: string,
): AsyncGenerator<CheckResult> {
  const roots = await rootsIn(folder);
  const checks = [
    { name: 'fmt', root: '', args: ['fmt', '-check', '-diff', '-recursive', '-no-color'] },
    ...roots.flatMap((root) => [
      { name: `init ${root}`, root, args: ['init', '-backend=false', '-no-color'] },
      { name: `validate ${root}`, root, args: ['validate', '-no-color'] },
    ]),
  ];
  for (const { name, root, args } of checks) {
    const { status, output } = await terraform.run(join(folder, root), ...args);
    yield { name: name.trim(), isPassed: status === 0, output };
  }
  const { status, output } = await terraform.run(folder, 'graph');
  const problems = status === 0 ? impatientIn(output) : [output];
  yield { name: 'order', isPassed: problems.length === 0, output: problems.join('\n') };
}
