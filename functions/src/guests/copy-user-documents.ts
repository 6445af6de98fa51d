import type { EraseUserDependencies } from '#functions/erasure/erase-user-documents.ts';
import { releaseUploads } from '#functions/erasure/release-uploads.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { changeNotes, eraseNotesFrom } from '#functions/memory/change-notes.ts';
import type { Claim } from '#shared/conversation/documents/claim.ts';
import {
  chatNamesCollection,
  claimPath,
  devicesCollection,
  notesPath,
  turnPath,
  uploadsCollection,
} from '#shared/conversation/documents/paths.ts';
import { readTurnDocument } from '#shared/conversation/documents/turn.ts';
import { isQuestionErased } from '#shared/conversation/writes/erase-turn.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import { inParallel } from '#shared/lib/in-parallel.ts';
import { decodeNotes, withNotesOf } from '#shared/memory/note.ts';
import { readDeviceDocuments, readDevices, surplusDevices } from '#shared/notification/device.ts';
import type { DocumentFields, DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { lastSegment } from '#shared/store/names.ts';
import { decodeUpload, turnKey, turnOfKey, uploadFilePath } from '#shared/uploads/upload.ts';

/** Documents of one read; each is a few hundred bytes. */
const PAGE = 100;
/** Turns of one read; each may have a MiB. */
const TURNS_PER_READ = 20;
const AT_ONCE = 10;

/** Throws GuardLostError for a claim that was dropped: its account is erased, and nothing comes to it any more. */
export async function checkClaim(
  store: Pick<DocumentStore, 'get'>,
  { guestUid, uid }: Claim,
): Promise<void> {
  const path = claimPath(guestUid);
  const [document] = await store.get([path]);
  if (document?.fields['uid'] !== uid) throw new GuardLostError({ paths: [path] });
}

interface NamedTurn {
  conversationId: string;
  seq: number;
}

/** Copies what a collection has, and resolves to it; what there is under the same name stays. Undefined: it is left out. */
async function copyCollection(
  store: DocumentStore,
  { from, to, claim }: { from: string; to: string; claim: Claim },
  copyOf: (document: StoredDocument) => DocumentFields | undefined,
): Promise<StoredDocument[]> {
  const found: StoredDocument[] = [];
  for await (const page of readPages(store, { collection: from, limit: PAGE })) {
    found.push(...page);
    await checkClaim(store, claim);
    await inParallel(page, AT_ONCE, async (document) => {
      const fields = copyOf(document);
      const path = `${to}/${lastSegment(document.path)}`;
      if (fields) await store.commit([{ op: 'create', path, fields }]).catch(ignoreLostGuard);
    });
  }
  return found;
}

function ignoreLostGuard(error: unknown): void {
  if (!(error instanceof GuardLostError)) throw error;
}

const copyChatNames = (store: DocumentStore, claim: Claim) =>
  copyCollection(
    store,
    { from: chatNamesCollection(claim.guestUid), to: chatNamesCollection(claim.uid), claim },
    ({ fields }) => fields,
  );

/** The files stay where they are, where turns name them. Resolves to the turns that do. */
async function copyUploads(store: DocumentStore, claim: Claim): Promise<NamedTurn[]> {
  const uploads = await copyCollection(
    store,
    { from: uploadsCollection(claim.guestUid), to: uploadsCollection(claim.uid), claim },
    (document) => ({ ...document.fields, path: uploadFilePath(document) }),
  );
  const keys = uploads.flatMap((upload) => Object.keys(decodeUpload(upload)?.turns ?? {}));
  return keys.map(turnOfKey).filter((turn) => turn !== undefined);
}

/** An installation that the account has registered already stays as it is there. */
async function copyDevices(store: DocumentStore, claim: Claim): Promise<void> {
  const { uid } = claim;
  const own = new Set<unknown>((await readDevices(store, uid)).map(({ device }) => device.token));
  await copyCollection(
    store,
    { from: devicesCollection(claim.guestUid), to: devicesCollection(claim.uid), claim },
    ({ fields }) => (own.has(fields['token']) ? undefined : fields),
  );
  const surplus = surplusDevices(await readDeviceDocuments(store, uid));
  if (surplus.length > 0) await store.commit(surplus.map((path) => ({ op: 'delete', path })));
}

/** Resolves to the turns of which the guest's notes tell. */
async function copyNotes(dependencies: EraseUserDependencies, claim: Claim): Promise<NamedTurn[]> {
  const [document] = await dependencies.store.get([notesPath(claim.guestUid)]);
  const { notes } = decodeNotes(document);
  if (notes.length === 0) return [];
  await checkClaim(dependencies.store, claim);
  await changeNotes<void>(dependencies, claim.uid, (own) => {
    const after = withNotesOf(own, notes);
    return { result: undefined, ...(after.length > own.notes.length && { notes: after }) };
  });
  return notes.flatMap(({ from }) =>
    from ? [from.seq, from.saidIn].map((seq) => ({ ...from, seq })) : [],
  );
}

/**
 * Clears the copies of what turns are named for that were erased before the copies stood there: what erases a turn looks
 * at its owner only. A turn that is erased later has its files and notes below its owner.
 */
async function clearErased(
  dependencies: EraseUserDependencies,
  uid: string,
  turns: readonly NamedTurn[],
): Promise<void> {
  const { store } = dependencies;
  const erasedKeys = new Set<string>();
  for (let first = 0; first < turns.length; first += TURNS_PER_READ) {
    const named = turns.slice(first, first + TURNS_PER_READ);
    const documents = await store.get(named.map((t) => turnPath(t.conversationId, t.seq)));
    for (const [index, { conversationId, seq }] of named.entries()) {
      const document = documents[index];
      const turn = document && readTurnDocument(conversationId, document).value;
      if (turn && turn.eraseTime === undefined) continue;
      await eraseNotesFrom(dependencies, { uid, conversationId, seqs: [seq] });
      if (!turn || isQuestionErased(turn)) erasedKeys.add(turnKey(conversationId, seq));
    }
  }
  if (erasedKeys.size === 0) return;
  const isReleased = (key: string) => erasedKeys.has(key);
  await releaseUploads(dependencies, { ownerUid: uid, isReleased });
}

/**
 * Copies what stands below the guest to the account, apart from the inbox, which went with the conversations: what the
 * account has under the same name stays. May stop anywhere and be repeated, for as long as the guest's are there. Throws
 * GuardLostError, also for a claim that was dropped, FILES_UNAVAILABLE, StoreUnavailableError.
 */
export async function copyUserDocuments(
  dependencies: EraseUserDependencies,
  claim: Claim,
): Promise<void> {
  const { store } = dependencies;
  const copied = () => passCrashPoint(dependencies, 'guest-documents-copied');
  const uploadTurns = await copyUploads(store, claim);
  await copied();
  await copyChatNames(store, claim);
  await copied();
  await copyDevices(store, claim);
  await copied();
  const noteTurns = await copyNotes(dependencies, claim);
  await copied();
  await clearErased(dependencies, claim.uid, [...uploadTurns, ...noteTurns]);
  await passCrashPoint(dependencies, 'guest-copies-cleared');
}
