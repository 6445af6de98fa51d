import { z } from 'zod';
import type { Terraform } from './run-terraform.ts';

const resourceSchema = z.object({
  address: z.string(),
  mode: z.string(),
  type: z.string(),
  name: z.string(),
  values: z.record(z.string(), z.json()),
});

/** A resource as a test of Terraform has made it, with the arguments that it was given. */
export type MadeResource = z.infer<typeof resourceSchema>;

const moduleSchema = z.object({ resources: z.array(resourceSchema).default([]) });

/** What a configuration and the modules that it uses have made. */
const madeSchema = moduleSchema
  .extend({ child_modules: z.array(moduleSchema).default([]) })
  .transform(({ child_modules, ...root }) =>
    [root, ...child_modules].flatMap(({ resources }) => resources),
  );

const lineSchema = z.union([
  z.object({
    type: z.literal('test_state'),
    '@testrun': z.string(),
    test_state: z.object({ root_module: madeSchema }),
  }),
  z.object({
    type: z.literal('diagnostic'),
    diagnostic: z.object({ summary: z.string(), detail: z.string() }),
  }),
]);

/**
 * Runs the tests below `tests/`, or one file of them: what fails, and what each run that applies has made.
 */
export async function makeResources(
  terraform: Terraform,
  folder: string,
  ...filters: string[]
): Promise<{ problems: string[]; made: Map<string, MadeResource[]> }> {
  await terraform.run(folder, 'init', '-backend=false', '-no-color');
  const { status, output } = await terraform.run(folder, 'test', '-json', '-verbose', ...filters);
  const lines = output
    .split('\n')
    .filter((line) => /"type":"(?:test_state|diagnostic)"/.test(line))
    .flatMap((line) => lineSchema.safeParse(JSON.parse(line)).data ?? []);
  const problems = lines.flatMap((line) =>
    line.type === 'diagnostic' ? `${line.diagnostic.summary}: ${line.diagnostic.detail}` : [],
  );
  if (status !== 0 && problems.length === 0) problems.push(output);
  const made = new Map(
    lines.flatMap((line) =>
      line.type === 'test_state' ? [[line['@testrun'], line.test_state.root_module] as const] : [],
    ),
  );
  return { problems: status === 0 ? [] : problems, made };
}
