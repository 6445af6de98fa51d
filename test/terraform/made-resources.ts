import { z } from 'zod';
import type { OfflineTerraform } from './offline/run-terraform.ts';

const resourceSchema = z.object({
  address: z.string(),
  mode: z.string(),
  type: z.string(),
  name: z.string(),
  values: z.record(z.string(), z.json()),
});

/** A resource as a test of Terraform has made it, with the arguments that it was given. */
export type MadeResource = z.infer<typeof resourceSchema>;

const stateLineSchema = z.object({
  type: z.literal('test_state'),
  '@testrun': z.string(),
  test_state: z.object({
    root_module: z.object({ resources: z.array(resourceSchema).default([]) }),
  }),
});

/** Lines that are no JSON, or tell something else, are left out. */
function parseStates(output: string): [string, MadeResource[]][] {
  return output.split('\n').flatMap((line): [string, MadeResource[]][] => {
    if (!line.includes('"test_state"')) return [];
    const parsed = stateLineSchema.safeParse(JSON.parse(line));
    if (!parsed.success) return [];
    return [[parsed.data['@testrun'], parsed.data.test_state.root_module.resources]];
  });
}

/** Runs the tests of some files below `tests/`: their exit status, and what each run that applies has made. */
export async function makeResources(
  terraform: OfflineTerraform,
  folder: string,
  files: readonly string[],
): Promise<{ status: number; output: string; made: Map<string, MadeResource[]> }> {
  await terraform.run(folder, 'init', '-backend=false', '-no-color');
  const filters = files.map((file) => `-filter=tests/${file}.tftest.hcl`);
  const { status, output } = await terraform.run(folder, 'test', '-json', '-verbose', ...filters);
  return { status, output, made: new Map(parseStates(output)) };
}
