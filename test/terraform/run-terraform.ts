import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Terraform with providers: the real ones, or those that know their schema alone. */
export interface Terraform {
  /**
   * Runs `terraform` with the arguments in a folder; its output has errors in it, as they came. Rejects where
   * no terraform is on the PATH.
   */
  run(folder: string, ...args: string[]): Promise<{ status: number; output: string }>;
  stop(): Promise<void>;
}

/** Where Terraform keeps its own files of a folder (`.terraform`), below a temporary one. */
export const dataFolder = (scratch: string, folder: string): string =>
  join(scratch, folder.replaceAll(/[^\w-]/g, '_'));

/** Runs Terraform with variables of the environment; its own files go below `scratch`. */
export const runTerraform =
  (scratch: string, environment: NodeJS.ProcessEnv): Terraform['run'] =>
  async (folder, ...args) => {
    const child = spawn('terraform', args, {
      cwd: folder,
      env: {
        ...process.env,
        // No question to HashiCorp about newer versions.
        CHECKPOINT_DISABLE: '1',
        TF_IN_AUTOMATION: '1',
        // A quarter of its processor time goes into freeing memory, of which there is enough.
        GOGC: '400',
        TF_DATA_DIR: dataFolder(scratch, folder),
        ...environment,
      },
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
  };
