import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { isFresh, readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isFinal } from '#shared/conversation/documents/turn.ts';
import { textsOfTurn, type TurnTexts } from '#shared/search/turn-texts.ts';

/** Turns of one read; each may hold a MiB. */
const TURNS_PER_READ = 100;

/** UTF-16 units after which a scan stops, however few turns they are. */
const SCAN_CHARACTERS = 8_000_000;

/** UTF-16 units after which what waits in this process has a go: looking through texts takes the processor for a while. */
const BREATH_CHARACTERS = 16_384;
/** UTF-16 units that a turn counts for beside those of its texts. */
const TURN_CHARACTERS = 500;

interface TurnScan {
  conversationId: string;
  conversation: Conversation;
  /** The first turn that is looked through, and how many at most. */
  newest: number;
  turnsMax: number;
  signal?: AbortSignal;
  /** Called with each turn, the newest first. */
  visit: (texts: TurnTexts) => void;
}

/** How far a scan came. */
export interface ScannedTurns {
  turns: number;
  newestSeq: number;
  /** Oldest turn that was looked through; `newestSeq + 1` where there was none. */
  oldestSeq: number;
  /** Whether no older turn is left. */
  isWhole: boolean;
}

const charactersOf = ({ messages, tools }: TurnTexts) =>
  messages.reduce((sum, { text }) => sum + text.length, TURN_CHARACTERS + tools.length);

/** The texts of turns in the order given, those of finished turns from the cache where it has them. */
export async function readTexts(
  { store, cache }: Pick<ChatDependencies, 'store' | 'cache'>,
  { conversationId, conversation }: Pick<TurnScan, 'conversationId' | 'conversation'>,
  seqs: readonly number[],
): Promise<TurnTexts[]> {
  const { epoch, generation } = conversation;
  const found = new Map<number, TurnTexts>();
  for (const seq of seqs) {
    const entry = cache.texts(epoch, seq);
    if (isFresh(conversation, entry)) found.set(seq, entry.texts);
  }
  const missing = seqs.filter((seq) => !found.has(seq));
  for (const { value: turn } of await readTurns(store, conversationId, missing)) {
    const texts = textsOfTurn(turn);
    found.set(turn.seq, texts);
    if (isFinal(turn)) cache.keepTexts(epoch, { texts, loadedAt: generation });
  }
  return seqs.flatMap((seq) => found.get(seq) ?? []);
}

/**
 * Looks through turns, the newest first, until a bound is reached. Turns of which this process has the texts
 * are not read again. Throws StoreUnavailableError, and the signal's reason.
 */
export async function scanTurns(
  dependencies: Pick<ChatDependencies, 'store' | 'cache'>,
  scan: TurnScan,
): Promise<ScannedTurns> {
  const { newest, turnsMax, signal, visit } = scan;
  const end = Math.max(1, newest - turnsMax + 1);
  let oldestSeq = newest + 1;
  let characters = 0;
  let sinceBreath = 0;
  while (oldestSeq > end && characters < SCAN_CHARACTERS) {
    signal?.throwIfAborted();
    const length = Math.min(TURNS_PER_READ, oldestSeq - end);
    const seqs = Array.from({ length }, (_, i) => oldestSeq - 1 - i);
    for (const texts of await readTexts(dependencies, scan, seqs)) {
      visit(texts);
      const looked = charactersOf(texts);
      characters += looked;
      sinceBreath += looked;
      if (sinceBreath < BREATH_CHARACTERS) continue;
      await new Promise<void>((resolve) => setImmediate(resolve));
      sinceBreath = 0;
    }
    oldestSeq -= length;
  }
  return { turns: newest - oldestSeq + 1, newestSeq: newest, oldestSeq, isWhole: oldestSeq <= 1 };
}
