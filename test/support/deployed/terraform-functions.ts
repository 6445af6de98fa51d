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
      secret_environment_variables: z.array(z.object({ key: z.string() })),
    }),
  ]),
});

/** What an operator gives Terraform as `snapshot_keys`. */
const SECRETS: Readonly<Record<string, string>> = {
  SNAPSHOT_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
};

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

function secretValue(key: string): string {
  const value = SECRETS[key];
  if (value === undefined) throw new Error(`a value of the secret ${key} is missing here`);
  return value;
}

/** Both functions as `terraform apply` makes them where nothing but what is required is given. */
export async function terraformFunctions() {
  const made = await makeDefaults();
  const read = (wanted: string): TerraformFunction => {
    const found = made.find(({ name }) => name === wanted);
    const { name, service_config } = functionSchema.parse(found?.values);
    const [config] = service_config;
    return {
      name,
      memoryMib: Number.parseInt(config.available_memory, 10),
      timeoutSeconds: config.timeout_seconds,
      environment: Object.fromEntries([
        ...Object.entries(config.environment_variables),
        ...config.secret_environment_variables.map(({ key }) => [key, secretValue(key)]),
      ]),
    };
  };
  return { chat: read('chat'), compaction: read('compaction') };
}
