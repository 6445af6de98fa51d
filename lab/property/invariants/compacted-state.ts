import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { conversationPath, inboxPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { caller } from '../actions/actors.ts';
import { CONVERSATION, initialStates, type InitialState } from '../initial-state.ts';
import { runProgram } from '../run-program.ts';

const collections = ['turns', 'messages', 'histories', 'jobs', 'public'];

async function creations(store: DocumentStore): Promise<Write[]> {
  const root = conversationPath(CONVERSATION);
  const below = collections.map((name) =>
    store.query({ collection: `${root}/${name}`, limit: 20 }),
  );
  const paths = [root, inboxPath(caller.uid, CONVERSATION)];
  const documents = [...(await store.get(paths)), ...(await Promise.all(below)).flat()];
  return documents.flatMap((document) =>
    document ? [{ op: 'create' as const, path: document.path, fields: document.fields }] : [],
  );
}

/** The first of the initial states once its compaction is over: older turns stand in a snapshot. */
async function compacted(): Promise<InitialState> {
  const [due] = initialStates;
  if (!due) throw new Error('there is no initial state');
  const store = createMemoryDocumentStore();
  const calm = { strands: [], faults: [], schedule: [], endsWithMessage: false };
  await runProgram({ initial: due, ...calm }, { store });
  return {
    text: 'five turns, four of them in a snapshot',
    marks: due.marks,
    writes: await creations(store),
  };
}

/** Where an edit or a deletion brings back what was folded. */
export const compactedState = await compacted();
