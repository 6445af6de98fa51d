import {
  constraintSection,
  type ArchivedItem,
  type Item,
} from '#shared/conversation/documents/snapshot.ts';
import { keepWording, withoutStrangers } from './apply-add.ts';
import { endRefusal, type Application, type Refusal } from './application.ts';
import { retireCopies } from './constraint-copies.ts';
import { constraintText, withdrawnByUser } from './constraint-rules.ts';
import { sectionFor } from './guiding-sections.ts';
import { textKey } from '#shared/text/one-line.ts';
import {
  archiveItem,
  archiveWords,
  dropItem,
  findItem,
  forgetReplaced,
  putItem,
} from '../ledger-draft.ts';
import type { RemoveOperation, UpdateOperation } from '../prompt/operation.ts';
import {
  lastSource,
  mergeSources,
  findQuote,
  toStatement,
  type Statement,
} from '../items/statement.ts';
import { isUnitedList } from '../budget/unite-lists.ts';

/** The cited turns that count: folded ones, and those that the item cites already. */
function validSources(
  { evidence }: Application,
  item: ArchivedItem,
  cited: readonly number[],
): number[] {
  const own = new Set(item.sources);
  return mergeSources(
    cited.filter((seq) => evidence.has(seq) || own.has(seq)),
    [],
  );
}

/** An item that the model has been shown: an answer cannot mean one that it makes itself. */
function findNameable({ draft, isCorrecting }: Application, id: string): ArchivedItem | undefined {
  const isNew = Number(id.replace(/^i/u, '')) >= draft.base.nextId;
  return isNew && !isCorrecting ? undefined : findItem(draft, id);
}

/** The old words go to the archive, where they are found but no longer hold; with them the quote for them. */
function change(
  { draft, at }: Application,
  known: ArchivedItem,
  said: Statement & { importance?: Item['importance'] | undefined },
): void {
  const { section, ...item } = known;
  const { quote: oldQuote, ...rest } = item;
  const saysSame = textKey(said.text) === textKey(item.text);
  const supersedes = (saysSame ? undefined : archiveWords(draft, known)) ?? item.supersedes;
  const isSame = said.text === item.text;
  const day = isSame ? undefined : at(said.sources.at(-1) ?? 0);
  const quote = said.quote ?? (isSame ? oldQuote : undefined);
  putItem(draft, section, {
    ...rest,
    text: said.text,
    sources: mergeSources(item.sources, said.sources),
    ...(supersedes !== undefined && { supersedes }),
    ...(quote !== undefined && { quote }),
    ...(day !== undefined && { at: day }),
    ...(said.status !== undefined && { status: said.status }),
    ...(said.importance !== undefined && { importance: said.importance }),
    by: isSame ? item.by : 'model',
  });
}

/**
 * The items that an update takes in go to the archive: what they said is found there as they said it. Returns the turns
 * that they cite, so that the erasure of one of them finds the merged words, too.
 */
function mergedSources(application: Application, { id, merges = [] }: UpdateOperation): number[] {
  return merges.flatMap((other) => {
    const item = other === id ? undefined : findNameable(application, other);
    if (item === undefined || item.section === constraintSection || isUnitedList(item)) return [];
    archiveItem(application.draft, item);
    return item.sources;
  });
}

/**
 * New words for an item, with the turns that say so; what the operation does not name stays. Its old words, if
 * they say something else, go to the archive under an id of their own.
 */
export function applyUpdate(application: Application, update: UpdateOperation): Refusal {
  const { draft, evidence } = application;
  const item = findNameable(application, update.id);
  if (item === undefined) return 'UNKNOWN_ID';
  if (isUnitedList(item)) return 'LIST_OF_CODE';
  // Who only shortens an item names no turns: it goes on citing its own.
  const cited = update.sources.length === 0 ? item.sources : update.sources;
  const sources = validSources(application, item, cited);
  if (sources.length === 0) return 'NO_SOURCE';
  const said = toStatement(update, sources, evidence);
  if (item.section !== constraintSection) {
    const guidance = { section: item.section, said, earlierText: item.text };
    const own = { ...said, text: withoutStrangers(application, guidance) };
    if (own.text === '') return 'WORDS_OF_TOOL';
    if (sectionFor(application, { ...guidance, said: own }) !== item.section) {
      keepWording(application, own);
      return 'WORDS_OF_TOOL';
    }
    const merged = mergeSources(said.sources, mergedSources(application, update));
    change(application, item, { ...own, sources: merged, importance: update.importance });
    return undefined;
  }
  const stated = withdrawnByUser(
    { quote: findQuote(update), text: said.text, sources },
    evidence,
    lastSource(item),
  );
  if (!stated.ok) {
    keepWording(application, said);
    return stated.reason;
  }
  const text = constraintText(said.text, stated, { evidence, earlierText: item.text });
  const known = retireCopies(draft, item);
  change(application, known, { ...said, text, quote: stated.quote, sources: stated.sources });
  if (text !== said.text) keepWording(application, said, { quote: stated.quote });
  return undefined;
}

/**
 * The item is gone, with what it took the place of: it was wrong. Where no turn is cited it only makes room, and goes to
 * the archive.
 */
export function applyRemove(application: Application, remove: RemoveOperation): Refusal {
  const item = findNameable(application, remove.id);
  if (item === undefined) return 'UNKNOWN_ID';
  const cited = { quote: findQuote(remove), sources: remove.sources };
  const refusal = endRefusal(application, item, cited);
  if (refusal !== undefined) return refusal;
  if (remove.sources.length === 0) {
    archiveItem(application.draft, retireCopies(application.draft, item));
    return undefined;
  }
  if (validSources(application, item, remove.sources).length === 0) return 'NO_SOURCE';
  const ended = retireCopies(application.draft, item);
  dropItem(application.draft, ended);
  forgetReplaced(application.draft, ended);
  return undefined;
}
