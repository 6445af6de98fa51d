import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSchemaProviders } from './schema-provider.ts';

interface TerraformRun {
  status: number;
  /** What it printed, output and errors as they came. */
  output: string;
}

export interface OfflineTerraform {
  /** Runs `terraform` with the arguments in a folder. Rejects where no terraform is on the PATH. */
  run(folder: string, ...args: string[]): Promise<TerraformRun>;
  stop(): Promise<void>;
}

/**
 * Terraform with schema-only providers in place of the real ones: nothing is downloaded, nothing is
 * called. What Terraform keeps of a folder (`.terraform`) goes into a temporary one, a state is never
 * written.
 */
export async function startOfflineTerraform(): Promise<OfflineTerraform> {
  const providers = await startSchemaProviders();
  const scratch = await mkdtemp(join(tmpdir(), 'recap-terraform-'));
  const environment = {
    ...process.env,
    ...providers.environment,
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
      await providers.stop();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}
