import { blobsNamedBy } from '#shared/conversation/writes/erased-history.ts';
import { readHistoryDocument, type History } from '#shared/conversation/documents/history.ts';
import { blobPiecePath, historiesCollection } from '#shared/conversation/documents/paths.ts';
import { pieceText } from '#shared/conversation/context/read-conversation.ts';
import {
  readSignedHistory,
  type HistoryPlace,
} from '#shared/conversation/context/signed-history.ts';
import type { Sha256, Signer, StoredDocument } from '#shared/ports/ports.ts';
import { readPages, type ReadStore } from '#infra/ops/pages.ts';
import { isUnreadable, refuseProblems, toUnreadable } from './load-turns.ts';
import { toStoredHistory, type StoredHistory, type Unreadable } from './loaded.ts';

/** Each may have most of a MiB. */
const HISTORIES_PER_PAGE = 10;

/** What histories are looked at with. */
export interface HistoryReading {
  store: ReadStore;
  sha256: Sha256;
  /** Undefined: nobody here has the keys that signed. */
  signer: Pick<Signer, 'isValid'> | undefined;
}

/** The whole text of a blob, or undefined where it has no piece. */
async function blobText(
  store: ReadStore,
  conversationId: string,
  sha256: string,
): Promise<string | undefined> {
  const texts: string[] = [];
  for (let index = 0; ; index += 1) {
    const [piece] = await store.get([blobPiecePath(conversationId, { sha256, index })]);
    if (!piece) return index === 0 ? undefined : texts.join('');
    texts.push(pieceText(piece));
  }
}

/** Names of blobs that do not say what their name says; each is read once, whoever names it. */
function blobReader({ store, sha256 }: HistoryReading, conversationId: string) {
  const known = new Map<string, Promise<boolean>>();
  const isWhole = async (name: string) => {
    const text = await blobText(store, conversationId, name);
    return text !== undefined && sha256(text) === name;
  };
  return async (history: History): Promise<string[]> => {
    const broken: string[] = [];
    for (const name of new Set(blobsNamedBy(history).map((blob) => blob.name))) {
      const whole = known.get(name) ?? isWhole(name);
      known.set(name, whole);
      if (!(await whole)) broken.push(name);
    }
    return broken;
  };
}

const silent = { log: () => undefined };

/** Undefined where nobody can tell. */
function isSigned(
  { signer }: HistoryReading,
  place: HistoryPlace,
  document: StoredDocument,
): boolean | undefined {
  if (!signer) return undefined;
  return readSignedHistory({ signer, logger: silent }, place, document).isUntrusted !== true;
}

/** Every history that is there, page by page, without what it says. */
export async function loadHistories(
  reading: HistoryReading,
  place: HistoryPlace,
): Promise<{ histories: StoredHistory[]; unreadable: Unreadable[] }> {
  const { conversationId } = place;
  const histories: StoredHistory[] = [];
  const unreadable: Unreadable[] = [];
  const brokenBlobsOf = blobReader(reading, conversationId);
  const query = { collection: historiesCollection(conversationId), limit: HISTORIES_PER_PAGE };
  for await (const page of readPages(reading.store, query))
    for (const document of page) {
      const { path } = document;
      try {
        const { history, problems } = readHistoryDocument(document);
        refuseProblems(problems);
        histories.push({
          ...toStoredHistory(conversationId, history),
          path,
          brokenBlobs: await brokenBlobsOf(history),
          isSigned: isSigned(reading, place, document),
        });
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        unreadable.push(toUnreadable(path, 'history', error));
      }
    }
  return { histories, unreadable };
}
