import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bounds } from './configurations.ts';

/** Of `spin -t -p`: the last steps say what went wrong, the first ones only how it began. */
const TRAIL_LINES = 80;
/** The longest path found so far has about 500 steps. */
const MAX_DEPTH = 200_000;
const OUTPUT_LIMIT_CHARACTERS = 10_000_000;

interface Search {
  bounds: Bounds;
  /** Preprocessor symbol that breaks the protocol. */
  mutant?: string;
  /** How long translation, compilation and search may take together. */
  deadlineMs: number;
  /** What the search may use; it fails beyond. */
  memoryLimitMb: number;
  /**
   * How states are stored: compressed takes about a quarter of the memory at about half of the speed;
   * hashed takes less and may take two states for one. Default: as they are.
   */
  storage?: 'compressed' | 'hashed';
}

export interface SearchResult {
  /** 0: no order of events breaks an assertion. The search ends at the first error. */
  errors: number;
  states: number;
  /** Steps of the longest path. */
  depth: number;
  /** Of all three programs. */
  seconds: number;
  memoryMb: number;
  /** The assertion that fails and the last steps that lead to it; empty without an error. */
  counterexample: string;
}

interface Command {
  directory: string;
  program: string;
  commandArguments: readonly string[];
  signal: AbortSignal;
}

/** Output of a program, stdout and stderr. Throws when it cannot run, is killed or misses the deadline. */
async function run({ directory, program, commandArguments, signal }: Command): Promise<string> {
  const child = spawn(program, commandArguments, { cwd: directory, signal, killSignal: 'SIGKILL' });
  let output = '';
  const keep = (text: string) => {
    output = (output + text).slice(-OUTPUT_LIMIT_CHARACTERS);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new Error(`${program} did not run to its end`, { cause }));
    });
    child.once('close', (status, killedBy) => {
      if (status === 0) resolve(output);
      else
        reject(new Error(`${program} ended with ${status ?? killedBy}:\n${output.slice(-4_000)}`));
    });
  });
}

function figure(output: string, pattern: RegExp): number {
  const found = pattern.exec(output)?.[1];
  if (found === undefined) throw new Error(`the checker printed no ${pattern.source}:\n${output}`);
  return Number(found);
}

/** Throws when the search ended before its end without having found an error. */
function readResult(output: string): Omit<SearchResult, 'seconds' | 'counterexample'> {
  const errors = figure(output, /errors: (\d+)/);
  if (errors === 0 && /not completed|max search depth too small/.test(output))
    throw new Error(`the search was not completed:\n${output.slice(-2_000)}`);
  return {
    errors,
    states: figure(output, /(\d+(?:\.\d+)?(?:e\+\d+)?) states, stored/),
    depth: figure(output, /depth reached (\d+)/),
    memoryMb: figure(output, /([\d.]+)\s+total actual memory usage/),
  };
}

/** The values that differ from 0 at the end, after the steps: most of the documents are empty. */
const worthShowing = (line: string) => !/^\t*[\w[\]().:]+ = 0$/.test(line);

const storageOptions = { compressed: '-DCOLLAPSE', hashed: '-DHC4' } as const;

async function searchIn(directory: string, search: Search): Promise<SearchResult> {
  const { bounds, mutant, memoryLimitMb } = search;
  const startMs = performance.now();
  const signal = AbortSignal.timeout(search.deadlineMs);
  const execute = (program: string, ...commandArguments: string[]) =>
    run({ directory, program, commandArguments, signal });
  const defines = Object.entries(bounds).map(([name, value]) => `-D${name}=${value}`);
  if (mutant !== undefined) defines.push(`-D${mutant}`);
  const compilation = ['-DSAFETY', '-DNOFAIR', `-DMEMLIM=${memoryLimitMb}`];
  if (search.storage) compilation.push(storageOptions[search.storage]);

  await execute('spin', ...defines, '-a', 'recap.pml');
  // More than a little optimising takes longer than it saves.
  const optimisation = mutant === undefined ? '-Og' : '-O0';
  await execute('gcc', '-w', optimisation, ...compilation, '-o', 'pan', 'pan.c');
  const output = await execute('./pan', `-m${MAX_DEPTH}`);
  const result = readResult(output);

  const trail = result.errors > 0 ? await execute('spin', ...defines, '-t', '-p', 'recap.pml') : '';
  const violation = /^pan:1: .*/m.exec(output)?.[0] ?? '';
  const steps = trail.split('\n').filter(worthShowing).slice(-TRAIL_LINES);
  return {
    ...result,
    seconds: (performance.now() - startMs) / 1000,
    counterexample: [violation, ...steps].join('\n').trim(),
  };
}

/**
 * Visits every state of recap.pml within the bounds: translates it with spin, compiles the checker with
 * gcc and runs it, in a directory of its own that is removed afterwards. Throws when one of the programs
 * fails, time or memory runs out, or the search is cut short: none of these is "no error".
 */
export async function searchModel(search: Search): Promise<SearchResult> {
  const directory = await mkdtemp(join(tmpdir(), 'recap-model-'));
  try {
    await copyFile(new URL('recap.pml', import.meta.url), join(directory, 'recap.pml'));
    return await searchIn(directory, search);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
