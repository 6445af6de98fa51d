import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/* The npm package as an app's project has it. */

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const run = promisify(execFile);

/** A project of `recap init`, whose other packages are those of this repository. */
export interface PackedProject {
  folder: string;
  /** The script of the command `recap`. */
  command: string;
  /** Runs the command in the project. */
  recap(...parameters: string[]): Promise<{ stdout: string; stderr: string }>;
  remove(): Promise<void>;
}

/** The file of the package, as soon as it is packed. Throws what npm said where that failed. */
async function packedFile(): Promise<string> {
  const response = await fetch(inject('packedUrl'));
  const { file, error } = (await response.json()) as { file?: string; error?: string };
  if (file === undefined) throw new Error(error);
  return file;
}

/** Unpacks the package into the node_modules of a project that it has written. */
export async function createPackedProject(): Promise<PackedProject> {
  // Below the repository, so that packages are found.
  const folder = await mkdtemp(join(root, 'dist/app-'));
  const unpacked = join(folder, 'unpacked');
  await mkdir(unpacked);
  await run('tar', ['-xzf', await packedFile(), '-C', unpacked]);
  await run(process.execPath, [join(unpacked, 'package/dist/npm/recap.js'), 'init', 'my-chat'], {
    cwd: folder,
  });
  const project = join(folder, 'my-chat');
  await mkdir(join(project, 'node_modules'));
  await run('mv', [join(unpacked, 'package'), join(project, 'node_modules/recap')]);
  const command = join(project, 'node_modules/recap/dist/npm/recap.js');
  return {
    folder: project,
    command,
    recap: (...parameters) => run(process.execPath, [command, ...parameters], { cwd: project }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** An entry module with everything that most apps define. */
export const packedApp = `import { defineRecap, tool } from 'recap';
import { z } from 'zod';

const weather = tool({
  name: 'weather',
  description: 'The weather at a place.',
  input: z.object({ place: z.string() }),
  run: ({ place }, { user }) => \`Snow in \${place}, \${user.isAnonymous ? 'stranger' : user.uid}\`,
});

export const { chat, compaction } = defineRecap({
  systemInstruction: ({ user }) => \`You are a guide. The plan: \${String(user.claims['plan'])}.\`,
  tools: [weather],
  beforeTurn: ({ message }) => ({ context: \`They said \${message.text.length} characters.\` }),
});
`;
