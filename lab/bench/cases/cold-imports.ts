import { join } from 'node:path';
import type { BenchCase } from '../bench-case.ts';
import { packedFolder, printedBy, root } from '../cold-start/packed.ts';
import { NOBODY_THERE } from '../cold-start/start-function.ts';

/** What is imported, and what it is called in the archive where it is a part of it by itself. */
const imports = [
  { name: 'our own files', from: join(root, 'functions/src/index.ts'), packed: 'main.cjs' },
  { name: 'firestore', from: '@google-cloud/firestore', packed: 'firestore' },
  { name: 'genai', from: '@google/genai', packed: 'genai' },
  { name: 'pubsub', from: '@google-cloud/pubsub', packed: 'pubsub' },
  { name: 'google-auth-library', from: 'google-auth-library', packed: 'auth' },
  { name: 'zod', from: 'zod' },
  { name: 'hono', from: 'hono' },
  { name: '@hono/node-server', from: '@hono/node-server' },
  { name: 'jose', from: 'jose' },
] as const;

const script = join(root, 'lab/bench/cold-start/import-cost.ts');

const costMs = (...line: string[]) =>
  Number(printedBy(root, [script, ...line], { PATH: process.env['PATH'], ...NOBODY_THERE }));

const median = (values: readonly number[]) =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);

/** Costs by what was imported, over all samples. */
class Costs {
  readonly #byName = new Map<string, number[]>();

  note(name: string, ms: number): number {
    this.#byName.set(name, [...(this.#byName.get(name) ?? []), ms]);
    return ms;
  }

  median(name: string): number {
    return median(this.#byName.get(name) ?? []);
  }
}

/**
 * What each import takes of the processor alone in a process, as npm installed it and out of the archive. The figure is
 * the sum of what the archive has by itself.
 */
export function importCase(): BenchCase {
  const installed = new Costs();
  const packed = new Costs();
  const table = () =>
    imports
      .map(({ name, ...more }) => {
        const fromArchive = 'packed' in more ? ` (packed ${packed.median(name)})` : '';
        return `${name} ${installed.median(name)}${fromArchive}`;
      })
      .join(', ');
  return {
    name: 'cold-imports',
    unit: 'ms',
    referenceName: 'of the processor for the same from sources and node_modules',
    direction: 'atMost',
    aim: 0.6,
    samples: 3,
    ours: () => {
      let sum = 0;
      for (const { name, ...more } of imports)
        if ('packed' in more)
          sum += packed.note(name, costMs(more.packed, '--packed', packedFolder()));
      return sum;
    },
    reference: () => {
      let sum = 0;
      for (const { name, from, ...more } of imports) {
        const ms = installed.note(name, costMs(from));
        if ('packed' in more) sum += ms;
      }
      return sum;
    },
    note: () => `Each alone, ms of the processor: ${table()}`,
  };
}
