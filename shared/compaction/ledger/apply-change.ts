import { constraintSection, type ArchivedItem } from '../../conversation/snapshot.ts';
import { endRefusal, type Application, type Refusal } from './application.ts';
import { retireCopies } from './constraint-copies.ts';
import { constraintText, withdrawnByUser } from './constraint-rules.ts';
import { sectionFor } from './guiding-sections.ts';
import { textKey } from './item-text.ts';
import { archiveWords, dropItem, findItem, forgetReplaced, putItem } from './ledger-draft.ts';
import type { RemoveOperation, UpdateOperation } from './operation.ts';
import { lastSource, mergeSources } from './sources.ts';
import { quoteOf, statementOf, type Statement } from './statement.ts';
import { isUnitedList } from './united-list.ts';

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

/** The old words go to the archive, where they are found but no longer hold; with them the quote for them. */
function change({ draft, at }: Application, known: ArchivedItem, said: Statement): void {
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
    by: isSame ? item.by : 'model',
  });
}

/**
 * New words for an item, with the turns that say so; what the operation does not name stays. Its old words, if
 * they say something else, go to the archive under an id of their own.
 */
export function applyUpdate(application: Application, update: UpdateOperation): Refusal {
  const { draft, evidence } = application;
  const item = findItem(draft, update.id);
  if (item === undefined) return 'UNKNOWN_ID';
  if (isUnitedList(item)) return 'LIST_OF_CODE';
  const sources = validSources(application, item, update.sources);
  if (sources.length === 0) return 'NO_SOURCE';
  const said = statementOf(update, sources, evidence);
  if (item.section !== constraintSection) {
    const guidance = { section: item.section, said, earlierText: item.text };
    if (sectionFor(application, guidance) !== item.section) return 'WORDS_OF_TOOL';
    change(application, item, said);
    return undefined;
  }
  const stated = withdrawnByUser(
    { quote: quoteOf(update), text: said.text, sources },
    evidence,
    lastSource(item),
  );
  if (!stated.ok) return stated.reason;
  const text = constraintText(said.text, stated, { evidence, earlierText: item.text });
  const known = retireCopies(draft, item);
  change(application, known, { ...said, text, quote: stated.quote, sources: stated.sources });
  return undefined;
}

/** The item is gone, with what it took the place of: it was wrong, or nobody needs it any more. */
export function applyRemove(application: Application, remove: RemoveOperation): Refusal {
  const item = findItem(application.draft, remove.id);
  if (item === undefined) return 'UNKNOWN_ID';
  const cited = { quote: quoteOf(remove), sources: remove.sources };
  const refusal = endRefusal(application, item, cited);
  if (refusal !== undefined) return refusal;
  if (validSources(application, item, remove.sources).length === 0) return 'NO_SOURCE';
  const ended = retireCopies(application.draft, item);
  dropItem(application.draft, ended);
  forgetReplaced(application.draft, ended);
  return undefined;
}
