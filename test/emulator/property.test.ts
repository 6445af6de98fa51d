import { expect, test } from 'vitest';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { search } from '#lab/property/search.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/processes/emulator-environment.ts';
import { searchCases } from '#test/support/search-cases.ts';

const RUNS = searchCases(100);
/** About half a second a program; a busy machine runs fewer. */
const TIME_LIMIT_MS = 60_000;
const SEED = 20_261_121;

test(
  'random programs on the database keep every invariant',
  async () => {
    const projectId = demoProjectId();
    const store = createFirestoreDocumentStore({
      projectId,
      databaseId: '(default)',
      deadlineMs: 30_000,
    });
    const documents = `http://${firestoreEmulatorHost()}/emulator/v1/projects/${projectId}/databases/(default)/documents`;
    const emptyStore = async () => {
      await fetch(documents, { method: 'DELETE' });
      return store;
    };

    const result = await search({
      runs: RUNS,
      seed: SEED,
      timeLimitMs: TIME_LIMIT_MS,
      emptyStore,
    });

    console.log(`property on the database: ${result.runs} programs`);
    expect(result.failure ?? '').toBe('');
    expect(result.runs).toBeGreaterThan(0);
  },
  3 * TIME_LIMIT_MS,
);
