import { codeIn } from './expressions.ts';
import type { Block, Module } from '../read-module.ts';

/** What must be there, and known to all of Google, before a resource is made: else the first apply fails. */
const waits = [
  {
    of: (type: string) => type.startsWith('google_') && type !== 'google_project_service',
    for: 'time_sleep.apis',
    why: 'its API is enabled by the same apply',
  },
  {
    of: (type: string) => type === 'google_cloudfunctions2_function',
    for: 'time_sleep.rights',
    why: 'its accounts get their rights by the same apply',
  },
  {
    of: (type: string) => type === 'google_monitoring_slo',
    for: 'time_sleep.metrics',
    why: 'its metrics are made by the same apply',
  },
];

const named = /(?<![\w.\]-])(local\.\w+|data\.\w+\.\w+|(?:google|time)_\w+\.\w+)/g;

const namesIn = (block: Block) =>
  [...codeIn(block.body).matchAll(named)].map(([, name = '']) => name);

/** The addresses that a block waits for, by itself and by what it names. */
function waitedFor(block: Block, blocks: ReadonlyMap<string, Block>): Set<string> {
  const seen = new Set<string>();
  const open = [block];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const name of namesIn(next)) {
      const found = blocks.get(name);
      if (found === undefined || seen.has(name)) continue;
      seen.add(name);
      open.push(found);
    }
  return seen;
}

/** Resources that do not wait for what the same apply makes: one line for each. Modules without waits have none. */
export function lintOrder(module: Module): string[] {
  const all = [...module.resources, ...module.data, ...module.locals];
  const blocks = new Map(all.map((block) => [block.address, block]));
  return module.resources.flatMap((resource) => {
    const due = waits.filter((wait) => wait.of(resource.type) && blocks.has(wait.for));
    if (due.length === 0) return [];
    const seen = waitedFor(resource, blocks);
    return due
      .filter((wait) => !seen.has(wait.for))
      .map(
        (wait) =>
          `${resource.file}: ${resource.address}: does not wait for ${wait.for}: ${wait.why}`,
      );
  });
}
