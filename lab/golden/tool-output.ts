import { z } from 'zod';

/** What a tool returns, told in few words: the long outputs of a real session are written by code. */
export const toolOutputSchema = z.union([
  z.strictObject({ output: z.string() }),
  z.strictObject({ listing: z.strictObject({ dir: z.string(), count: z.number().int() }) }),
  z.strictObject({
    source: z.strictObject({
      path: z.string(),
      lines: z.number().int(),
      /** Lines that matter; they stand in the middle. */
      holds: z.array(z.string()),
    }),
  }),
  z.strictObject({
    log: z.strictObject({
      service: z.string(),
      from: z.iso.datetime(),
      lines: z.number().int(),
      /** Stands behind two thirds of the lines. */
      error: z.string().optional(),
    }),
  }),
  z.strictObject({
    tests: z.strictObject({
      run: z.string(),
      passed: z.number().int(),
      /** Name, error and place of each. */
      failed: z.array(z.tuple([z.string(), z.string(), z.string()])),
      ms: z.number(),
    }),
  }),
]);
type ToolOutput = z.infer<typeof toolOutputSchema>;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const words =
  'sailing seat hold deck cabin quay fare ticket queue bank passenger vehicle berth port'.split(
    ' ',
  );
const wordAt = (index: number): string => words[index % words.length] ?? 'seat';
const nameAt = (index: number): string => `${wordAt(index)}-${wordAt(3 * index + 5)}`;

const listing = ({ dir, count }: { dir: string; count: number }): string =>
  numbers(count)
    .map((index) => `${dir}/${wordAt(index)}/${nameAt(index)}.ts`)
    .join('\n');

function source({ lines, holds }: { lines: number; holds: readonly string[] }): string {
  const filler = numbers(lines).map(
    (index) => `  const ${wordAt(index)} = await load(${wordAt(index + 1)});`,
  );
  return filler.toSpliced(Math.floor(lines / 2), 0, ...holds).join('\n');
}

function log(given: {
  service: string;
  from: string;
  lines: number;
  error?: string | undefined;
}): string {
  const start = Date.parse(given.from);
  const lines = numbers(given.lines).map((index) => {
    const at = new Date(start + index * 1_370).toISOString();
    return `${at} INFO ${given.service} ${wordAt(index)} answered in ${12 + ((index * 7) % 40)} ms`;
  });
  const behind = Math.floor((2 * given.lines) / 3);
  return (given.error === undefined ? lines : lines.toSpliced(behind, 0, given.error)).join('\n');
}

function tests(given: {
  run: string;
  passed: number;
  failed: readonly (readonly [string, string, string])[];
  ms: number;
}): string {
  const passed = numbers(given.passed).map(
    (index) => ` ✓ ${nameAt(index)} › keeps the ${wordAt(index + 2)} of a ${wordAt(index + 4)}`,
  );
  const failed = given.failed.flatMap(([name, error, place]) => [
    ` × ${name}`,
    `   ${error}`,
    `    at ${place}`,
  ]);
  const count = `Tests ${given.failed.length} failed | ${given.passed} passed (${given.ms} ms)`;
  return [given.run, ...passed, ...failed, count].join('\n');
}

/** The whole output as text; the same for the same words. */
export function toolOutputText(told: ToolOutput): string {
  if ('output' in told) return told.output;
  if ('listing' in told) return listing(told.listing);
  if ('source' in told) return source(told.source);
  if ('log' in told) return log(told.log);
  return tests(told.tests);
}
