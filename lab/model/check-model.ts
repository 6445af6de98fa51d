import { parseArgs } from 'node:util';
import { INSTALL_MODEL_CHECKER, missingModelChecker } from '#test/support/tools/missing-tools.ts';
import {
  fullConfigurations,
  hashedConfigurations,
  mutants,
  smallConfigurations,
  type Bounds,
} from './configurations.ts';
import { searchModel, type SearchResult } from './spin.ts';

const help = `Usage: npm run model [-- --full | --mutant NAME]

Searches the model of the protocol (lab/model/recap.pml) for an order of events that breaks an invariant.

  --full          more turns, faults and changes: minutes and gigabytes instead of seconds
  --mutant NAME   a protocol with a flaw, and the steps that show it: ${mutants.map(({ name }) => name).join(', ')}
  --help          this text

Exit code: 0 no error found (with --mutant: found); 1 otherwise; 2 wrong arguments or a missing tool.`;

const SMALL = { deadlineMs: 120_000, memoryLimitMb: 2_000 };
const FULL = { deadlineMs: 3_600_000, memoryLimitMb: 12_000, storage: 'compressed' } as const;
const HASHED = { ...FULL, storage: 'hashed' } as const;

const boundsText = (bounds: Bounds) =>
  Object.entries(bounds)
    .map(([name, value]) => `${name.toLowerCase()} ${value}`)
    .join(', ');

function print(bounds: Bounds, result: SearchResult): void {
  console.log(
    [
      boundsText(bounds),
      `${result.states.toLocaleString('en')} states`,
      `depth ${result.depth}`,
      `${result.seconds.toFixed(1)} s`,
      `${Math.round(result.memoryMb)} MB`,
      result.errors === 0 ? 'no error' : 'error found',
    ].join(' · '),
  );
  if (result.counterexample !== '') console.log(result.counterexample);
}

async function checkMutant(name: string): Promise<number> {
  const mutant = mutants.find((known) => known.name === name);
  if (!mutant) return refuse(`unknown mutant ${name}`);
  const result = await searchModel({ bounds: mutant.bounds, mutant: name, ...SMALL });
  print(mutant.bounds, result);
  return result.errors > 0 ? 0 : 1;
}

async function checkAll(
  configurations: readonly Bounds[],
  limits: typeof SMALL | typeof FULL | typeof HASHED,
): Promise<number> {
  let status = 0;
  for (const bounds of configurations) {
    const result = await searchModel({ bounds, ...limits });
    print(bounds, result);
    if (result.errors > 0) status = 1;
  }
  return status;
}

function refuse(problem: string): number {
  console.error(`${problem}\n\n${help}`);
  return 2;
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      full: { type: 'boolean', default: false },
      mutant: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

async function main(): Promise<number> {
  let values: ReturnType<typeof readArguments>;
  try {
    values = readArguments();
  } catch (error) {
    return refuse(error instanceof Error ? error.message : 'wrong arguments');
  }
  if (values.help) {
    console.log(help);
    return 0;
  }
  const missing = missingModelChecker();
  if (missing.length > 0) {
    console.error(`${missing.join(' and ')} not found; ${INSTALL_MODEL_CHECKER}`);
    return 2;
  }
  if (values.mutant !== undefined) return checkMutant(values.mutant);
  if (!values.full) return checkAll(smallConfigurations, SMALL);
  const status = await checkAll(fullConfigurations, FULL);
  console.log('states kept as hashes of 64 bits, no proof:');
  return Math.max(status, await checkAll(hashedConfigurations, HASHED));
}

process.exitCode = await main();
