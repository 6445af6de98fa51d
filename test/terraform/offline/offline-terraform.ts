import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTerraform, type Terraform } from '../run-terraform.ts';
import { providerAddress, providerNames } from './provider-schema.ts';
import { startSchemaProvider } from './schema-provider.ts';

/**
 * Terraform with schema-only providers in place of the real ones: nothing is downloaded, nothing is
 * called. What Terraform keeps of a folder (`.terraform`) goes into a temporary one, a state is never
 * written.
 */
export async function startOfflineTerraform(): Promise<Terraform> {
  const providers = await Promise.all(
    providerNames.map(async (name) => ({
      address: providerAddress(name),
      ...(await startSchemaProvider(name)),
    })),
  );
  const reattach = Object.fromEntries(providers.map((one) => [one.address, one.reattach]));
  const scratch = await mkdtemp(join(tmpdir(), 'recap-terraform-'));
  return {
    run: runTerraform(scratch, {
      TF_REATTACH_PROVIDERS: JSON.stringify(reattach),
      // No configuration of the person who runs it.
      TF_CLI_CONFIG_FILE: '/dev/null',
    }),
    stop: async () => {
      for (const provider of providers) provider.stop();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}
