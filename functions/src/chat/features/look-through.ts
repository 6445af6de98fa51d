import type { ChatDependencies } from '../chat-dependencies.ts';
import { inParallel } from '#functions/lib/promises.ts';
import { isFresh, readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isFinal, type Turn } from '#shared/conversation/documents/turn.ts';
import { textsOfTurn, type TurnTexts } from '#shared/search/turn-texts.ts';

/** Turns of one step: the first, and at most. Each may hold a MiB, so steps grow only over small ones. */
const TURNS_PER_STEP = 50;
const TURNS_PER_STEP_MAX = 800;
/** A step that held less UTF-16 units than this lets the next one be twice as long; one that held more, half. */
const STEP_CHARACTERS = 1_500_000;

/** Turns of one read, and reads at a time. */
const TURNS_PER_READ = 100;
const READS_AT_ONCE = 4;

interface Step {
  texts: TurnTexts[];
  /** How many were asked for. */
  turns: number;
  /** UTF-16 units that were read or taken from the cache. */
  characters: number;
}

interface TextsSource {
  dependencies: Pick<ChatDependencies, 'store' | 'cache'>;
  conversationId: string;
  conversation: Conversation;
}

const charactersOf = ({ messages, tools }: TurnTexts) =>
  messages.reduce((sum, { text }) => sum + text.length, tools.length);

const storedCharacters = ({ user, contents }: Turn) => JSON.stringify([user, contents]).length;

function groupsOf(seqs: readonly number[]): number[][] {
  const count = Math.ceil(seqs.length / TURNS_PER_READ);
  return Array.from({ length: count }, (_, i) =>
    seqs.slice(i * TURNS_PER_READ, (i + 1) * TURNS_PER_READ),
  );
}

/** The texts of turns in the order given, those of finished turns from the cache where it has them. */
async function readStep(source: TextsSource, seqs: readonly number[]): Promise<Step> {
  const { dependencies, conversationId, conversation } = source;
  const { store, cache } = dependencies;
  const found = new Map<number, TurnTexts>();
  let characters = 0;
  for (const seq of seqs) {
    const entry = cache.texts(conversation.epoch, seq);
    if (!isFresh(conversation, entry)) continue;
    found.set(seq, entry.texts);
    characters += charactersOf(entry.texts);
  }
  const missing = seqs.filter((seq) => !found.has(seq));
  await inParallel(groupsOf(missing), READS_AT_ONCE, async (group) => {
    for (const { value: turn } of await readTurns(store, conversationId, group)) {
      const texts = textsOfTurn(turn);
      found.set(turn.seq, texts);
      characters += storedCharacters(turn);
      if (isFinal(turn))
        cache.keepTexts(conversation.epoch, { texts, loadedAt: conversation.generation });
    }
  });
  return { texts: seqs.flatMap((seq) => found.get(seq) ?? []), turns: seqs.length, characters };
}

/** Lets what waits in this process have a go: looking through many texts takes the processor for a while. */
const breathe = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * The texts of the turns from `newest` down to `oldest`, newest first, some at a time. Throws StoreUnavailableError, and the signal's reason.
 */
async function* textsBackwards(
  source: TextsSource,
  range: { newest: number; oldest: number; signal?: AbortSignal },
): AsyncGenerator<Step> {
  let size = TURNS_PER_STEP;
  for (let next = range.newest; next >= range.oldest;) {
    range.signal?.throwIfAborted();
    const length = Math.min(size, next - range.oldest + 1);
    const step = await readStep(
      source,
      Array.from({ length }, (_, i) => next - i),
    );
    yield step;
    next -= length;
    size =
      step.characters < STEP_CHARACTERS
        ? Math.min(TURNS_PER_STEP_MAX, size * 2)
        : Math.max(TURNS_PER_STEP, Math.floor(size / 2));
    await breathe();
  }
}

/** UTF-16 units after which a search stops, however few turns they are. */
const SEARCH_CHARACTERS = 8_000_000;

interface Search {
  conversationId: string;
  conversation: Conversation;
  /** The first turn that is looked through, and how many at most. */
  newest: number;
  turnsMax: number;
  signal?: AbortSignal;
  /** Called with each turn, the newest first. Gives the UTF-16 units that each of its steps has looked at. */
  visit: (texts: TurnTexts) => Generator<number, unknown>;
}

/** UTF-16 units after which what waits in this process has a go. */
const BREATH_CHARACTERS = 16_384;
/** UTF-16 units that a step counts for beside those that it has looked at. */
const STEP_OVERHEAD_CHARACTERS = 500;

/**
 * Runs work of one or more parts, whose steps say how many UTF-16 units they looked at, and lets what waits in this process
 * have a go between them.
 */
export function inBreaths() {
  let sinceBreath = 0;
  return async <T>(steps: Generator<number, T>): Promise<T> => {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      sinceBreath += step.value + STEP_OVERHEAD_CHARACTERS;
      if (sinceBreath < BREATH_CHARACTERS) continue;
      await breathe();
      sinceBreath = 0;
    }
  };
}

/** How far a search came. */
export interface Searched {
  turns: number;
  newestSeq: number;
  /** Oldest turn that was looked through; `newestSeq + 1` where there was none. */
  oldestSeq: number;
  /** Whether no older turn is left. */
  isWhole: boolean;
}

/**
 * Looks through turns, the newest first, until a bound is reached. Turns of which this process has the texts
 * are not read again. Throws StoreUnavailableError, and the signal's reason.
 */
export async function lookThrough(
  dependencies: Pick<ChatDependencies, 'store' | 'cache'>,
  search: Search,
): Promise<Searched> {
  const { conversationId, conversation, newest, turnsMax, signal, visit } = search;
  const end = Math.max(1, newest - turnsMax + 1);
  let oldestSeq = newest + 1;
  let characters = 0;
  const run = inBreaths();
  const range = { newest, oldest: end, ...(signal && { signal }) };
  for await (const step of textsBackwards({ dependencies, conversationId, conversation }, range)) {
    for (const texts of step.texts) await run(visit(texts));
    characters += step.characters;
    oldestSeq -= step.turns;
    if (characters >= SEARCH_CHARACTERS) break;
  }
  return { turns: newest - oldestSeq + 1, newestSeq: newest, oldestSeq, isWhole: oldestSeq <= 1 };
}
