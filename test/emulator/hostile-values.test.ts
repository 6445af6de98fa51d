import { expect, test } from 'vitest';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { demoProjectId } from '../support/processes/emulator-environment.ts';
import { searchValues } from '#lab/values/search-values.ts';
import { searchCases } from '#test/support/search-cases.ts';

const VALUES = searchCases(1_500);
const SEED = 20_261_122;
const TIMEOUT_MS = 180_000;

test(
  'hostile values of any kind leave every conversation on the database usable',
  async () => {
    const store = createFirestoreDocumentStore({ projectId: demoProjectId(), deadlineMs: 30_000 });

    const result = await searchValues({ values: VALUES, seed: SEED, store });

    console.log(`hostile values on the database: ${result.values}`);
    expect(result.problems).toEqual([]);
    expect(result.values).toBeGreaterThanOrEqual(VALUES);
  },
  TIMEOUT_MS,
);
