import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import { createDocumentTree } from '#infra/ops/document-tree.ts';
import { CONVERSATIONS } from '#shared/conversation/documents/paths.ts';
import {
  demoProjectId,
  firestoreEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { foundIn, verifyWorld } from '../support/compaction/verifying.ts';
import { eventually } from '../support/eventually.ts';
import {
  answeredDocuments,
  PATTERN,
  readImported,
  run,
  storedDiscussion,
} from '#test/support/import/extension.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const opsScript = fileURLToPath(new URL('../../infra/ops/ops.ts', import.meta.url));

/** The command as the shell runs it, on a project of the emulator. */
const startImport = (projectId: string, ...argv: string[]) =>
  spawn(
    process.execPath,
    [opsScript, 'import', '--from', PATTERN, '--project', projectId, '--yes', ...argv],
    { stdio: 'ignore' },
  );

function openDatabase(projectId = demoProjectId(), databaseId = '(default)') {
  const store = createFirestoreDocumentStore({ projectId, databaseId, deadlineMs: 20_000 });
  const tree = createDocumentTree({ projectId, emulatorHost: firestoreEmulatorHost() });
  return { projectId, store, tree };
}

test('an import that was killed while it wrote is completed by the next run, and nothing is there twice', async () => {
  const { projectId, store, tree } = openDatabase();
  const world = { ...verifyWorld(store), tree };
  const discussions = await Promise.all(
    Array.from({ length: 8 }, () => storedDiscussion(world, answeredDocuments(230))),
  );
  const child = startImport(projectId);
  const exited = once(child, 'exit');
  await eventually('the first conversation', async () =>
    (await store.query({ collection: CONVERSATIONS, limit: 1 })).at(0),
  );
  child.kill('SIGKILL');
  await exited;

  const second = await run(world, '--yes');
  const third = await run(world, '--yes');

  expect(second.code).toBe(0);
  expect(third.out).toContain('8 discussions: 0 created, 0 extended, 8 unchanged');
  for (const { conversationId } of discussions) {
    expect(await readImported(world, conversationId)).toMatchObject({
      state: 'live',
      lastSeq: 230,
    });
    expect(await foundIn(world, conversationId)).toEqual([]);
  }
});
