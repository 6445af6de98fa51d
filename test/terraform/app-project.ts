import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyModule, planRoot } from './real-terraform.ts';
import { terraformFolder, type CheckResult } from './check-terraform.ts';
import type { Terraform } from './run-terraform.ts';

/** The project that `recap init` writes, with the module where its `main.tf` looks for it and an archive. */
async function createAppProject(scratch: string): Promise<string> {
  const recap = join(terraformFolder, '../infra/recap/recap.ts');
  await promisify(execFile)(process.execPath, [recap, 'init', 'my-chat'], { cwd: scratch });
  const project = join(scratch, 'my-chat');
  await copyModule(join(project, 'node_modules/recap'));
  await mkdir(join(project, 'dist'));
  await cp(join(terraformFolder, 'tests/source.zip'), join(project, 'dist/recap.zip'));
  return join(project, 'terraform');
}

/** Formats and validates what `recap init` writes for Terraform; plans it where the providers are real. */
export async function* checkAppProject(
  terraform: Terraform,
  { isReal }: { isReal: boolean },
): AsyncGenerator<CheckResult> {
  const scratch = await mkdtemp(join(tmpdir(), 'recap-app-'));
  try {
    const folder = await createAppProject(scratch);
    for (const args of [['fmt', '-check', '-diff'], ['init', '-backend=false'], ['validate']]) {
      const { status, output } = await terraform.run(folder, ...args, '-no-color');
      yield { name: `${args[0]} of recap init`, isPassed: status === 0, output };
    }
    if (!isReal) return;
    const planned = await planRoot(terraform, folder);
    yield 'resources' in planned
      ? { name: `plan of recap init: ${planned.resources} resources`, isPassed: true, output: '' }
      : { name: 'plan of recap init', isPassed: false, output: planned.problem };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
