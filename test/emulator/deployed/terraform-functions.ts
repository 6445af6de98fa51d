import { once } from '#shared/lib/once.ts';
import { z } from 'zod';
import { terraformFolder } from '#test/terraform/check-terraform.ts';
import { makeResources } from '#test/terraform/made-resources.ts';
import { startOfflineTerraform } from '#test/terraform/offline/offline-terraform.ts';

const functionSchema = z.object({
  name: z.string(),
  service_config: z.tuple([
    z.object({
      available_memory: z.string().regex(/^\d+Mi$/),
      timeout_seconds: z.number(),
      environment_variables: z.record(z.string(), z.string()),
    }),
  ]),
});

export interface TerraformFunction {
  name: string;
  memoryMib: number;
  timeoutSeconds: number;
  environment: Record<string, string>;
}

/** A test of Terraform that gives only what is required, without a cloud. */
async function makeDefaults() {
  const terraform = await startOfflineTerraform();
  try {
    const filter = '-filter=tests/defaults.tftest.hcl';
    const { problems, made } = await makeResources(terraform, terraformFolder, filter);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return (made.get('defaults') ?? []).filter(
      ({ type }) => type === 'google_cloudfunctions2_function',
    );
  } finally {
    await terraform.stop();
  }
}

/** Both functions as `terraform apply` makes them where nothing but what is required is given. */
export const terraformFunctions = once(async () => {
  const made = await makeDefaults();
  const read = (wanted: string): TerraformFunction => {
    const found = made.find(({ name }) => name === wanted);
    const { name, service_config } = functionSchema.parse(found?.values);
    const [config] = service_config;
    return {
      name,
      memoryMib: Number.parseInt(config.available_memory, 10),
      timeoutSeconds: config.timeout_seconds,
      environment: config.environment_variables,
    };
  };
  return { chat: read('chat'), compaction: read('compaction') };
});
