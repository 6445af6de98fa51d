import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CompiledModules } from '#infra/package/runtime/compiled.ts';

/*
 * `node import-cost.ts NAME [--packed FOLDER]`: imports a package or a file, the first thing that this process does, and
 * prints what that took of the processor, ms. With FOLDER it is a part of the archive that lies there: `main.cjs`, or a
 * package of its `sdk.cjs` by the name of its getter.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { packed: { type: 'string' } },
});
const [name = ''] = positionals;
const { packed } = values;

/** Resolves to what imports it. */
async function importOf(): Promise<() => unknown> {
  if (packed === undefined) return () => import(name);
  const main = join(packed, 'main.cjs');
  if (name === 'main.cjs') return () => import(main);
  const { load }: CompiledModules = await import(main);
  return () => Reflect.get(load('sdk.cjs') as object, name);
}

// Every function has it already, also an empty one.
await import('@google-cloud/functions-framework');
const imports = await importOf();
const before = process.cpuUsage();
await imports();
const { user, system } = process.cpuUsage(before);
process.stdout.write(String((user + system) / 1_000), () => process.exit());
