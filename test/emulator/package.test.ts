import { deployArchive } from './deployed/deployed-functions.ts';
import {
  createPackedProject,
  packedApp,
  type PackedProject,
} from '../support/processes/packed-project.ts';
import { missingTerraform } from '../support/tools/missing-tools.ts';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

/* The archive of an app’s project, built and started as Google does it, with the variables that Terraform gives. */

const entrySchema = z.object({ severity: z.literal('INFO'), event: z.string() });

/** Whether a line is what metrics and alerts read, and of nothing that goes wrong. */
function isEntry(line: string): boolean {
  try {
    return entrySchema.safeParse(JSON.parse(line)).success;
  } catch {
    return false;
  }
}

describe.skipIf(missingTerraform().length > 0)('the functions as deployed', () => {
  let project: PackedProject;
  let deployed: Awaited<ReturnType<typeof deployArchive>>;

  beforeAll(async () => {
    project = await createPackedProject();
    await writeFile(join(project.folder, 'index.ts'), packedApp);
    await project.recap('package');
    deployed = await deployArchive(await readFile(join(project.folder, 'dist/recap.zip')));
  });

  afterAll(async () => {
    await deployed?.stop();
    await project?.remove();
  });

  test('the build keeps compiled code in the image', async () => {
    const { image } = deployed;
    expect(image.built).toContain('Both functions load');
    expect(await readdir(image.folder)).toEqual(
      expect.arrayContaining(['index.cjs.compiled', 'sdk.cjs.compiled']),
    );
  });

  test('recap smoke passes on them', async () => {
    const token = await deployed.idToken('smoke');

    const { stdout } = await project
      .recap('smoke', '--url', deployed.chat.url, '--token', token)
      .catch((error: { stdout: string }) => error);

    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual([]);
    expect(lines.at(-1)).toMatch(/^ok {2}erase/);
  });

  test('they answer with a tool of the app', async () => {
    const response = await fetch(`${deployed.chat.url}/v1/conversations/${randomUUID()}/messages`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await deployed.idToken('ada')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        message: {
          id: randomUUID(),
          parts: [{ type: 'text', text: 'call weather {"place":"Bern"}' }],
        },
      }),
    });

    expect(await response.text()).toContain('Snow in Bern, ada');
  });

  test('every line that a deployed function logs has its event and severity, and none is a warning', async () => {
    const { chat, compaction } = deployed;
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${chat.url}/v1/health`)));

    const lines = `${chat.output()}${compaction.output()}`.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !isEntry(line))).toEqual([]);
  });

  test('a stack trace names the source file of the app that it comes from', async () => {
    const given = deployed.image.run(
      process.execPath,
      '--eval',
      `process.env.FUNCTION_TARGET = 'chat'; require('./main.cjs')`,
    );

    const { stderr } = await given.catch((error: { stderr: string }) => error);

    expect(stderr).toContain('GOOGLE_CLOUD_PROJECT');
    expect(stderr.length).toBeLessThan(4_000);
    expect(stderr).toMatch(/at defineRecap \(.*\n +at index\.ts:\d+:\d+/);
  });
});
