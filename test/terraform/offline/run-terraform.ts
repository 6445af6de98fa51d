import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { providerAddress, providerNames } from './provider-schema.ts';
import { startSchemaProvider } from './schema-provider.ts';

export interface OfflineTerraform {
  /**
   * Runs `terraform` with the arguments in a folder; its output has errors in it, as they came. Rejects where
   * no terraform is on the PATH.
   */
  run(folder: string, ...args: string[]): Promise<{ status: number; output: string }>;
  stop(): Promise<void>;
}

/**
 * Terraform with schema-only providers in place of the real ones: nothing is downloaded, nothing is
 * called. What Terraform keeps of a folder (`.terraform`) goes into a temporary one, a state is never
 * written.
 */
export async function startOfflineTerraform(): Promise<OfflineTerraform> {
  const providers = await Promise.all(
    providerNames.map(async (name) => ({
      address: providerAddress(name),
      ...(await startSchemaProvider(name)),
    })),
  );
  const reattach = Object.fromEntries(providers.map((one) => [one.address, one.reattach]));
  const scratch = await mkdtemp(join(tmpdir(), 'recap-terraform-'));
  const environment = {
    ...process.env,
    TF_REATTACH_PROVIDERS: JSON.stringify(reattach),
    // No question to HashiCorp about newer versions, no configuration of the person who runs it.
    CHECKPOINT_DISABLE: '1',
    TF_IN_AUTOMATION: '1',
    TF_CLI_CONFIG_FILE: '/dev/null',
  };
  return {
    run: async (folder, ...args) => {
      const dataFolder = join(scratch, folder.replaceAll(/[^\w-]/g, '_'));
      const child = spawn('terraform', args, {
        cwd: folder,
        env: { ...environment, TF_DATA_DIR: dataFolder },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      const keep = (chunk: Buffer) => {
        output += chunk.toString('utf8');
      };
      child.stdout.on('data', keep);
      child.stderr.on('data', keep);
      const exit: unknown[] = await once(child, 'close');
      return { status: typeof exit[0] === 'number' ? exit[0] : 1, output };
    },
    stop: async () => {
      for (const provider of providers) provider.stop();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}
