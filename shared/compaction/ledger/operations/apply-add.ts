import {
  constraintSection,
  singleSections,
  snapshotSections,
  type ArchivedItem,
} from '#shared/conversation/documents/snapshot.ts';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { checkedValuesIn, isValueHeld } from '#shared/compaction/facts/index/unsupported.ts';
import { endRefusal, type Application, type Refusal } from './application.ts';
import { dropCopies, retireCopies } from './constraint-copies.ts';
import { constraintText, statedByUser } from './constraint-rules.ts';
import { isOfUser, sectionFor, type Guidance } from './guiding-sections.ts';
import {
  archiveItem,
  findItem,
  findText,
  isArchived,
  putItem,
  type LedgerDraft,
} from '../ledger-draft.ts';
import type { AddOperation } from '../prompt/operation.ts';
import { partStrangers, asToldByTool } from '../items/others-words.ts';
import { mergeSources, findQuote, toStatement, type Statement } from '../items/statement.ts';

/** The item that an `add` takes the place of: the one of a section of one item, else the one it names. */
function replacedBy(
  draft: LedgerDraft,
  { section, supersedes }: AddOperation,
): ArchivedItem | undefined {
  if (!singleSections.has(section))
    return supersedes === undefined ? undefined : findItem(draft, supersedes);
  const [only] = draft.sections.get(section)?.values() ?? [];
  return only && { ...only, section };
}

/** The item that says the same gets the new sources; its own words stay. */
function merge(draft: LedgerDraft, { section, ...known }: ArchivedItem, said: Statement): void {
  const quote = known.quote ?? said.quote;
  const status = said.status ?? known.status;
  putItem(draft, section, {
    ...known,
    sources: mergeSources(known.sources, said.sources),
    ...(quote !== undefined && { quote }),
    ...(status !== undefined && { status }),
  });
}

function create(
  { draft, at }: Application,
  { section, importance = 2 }: AddOperation,
  said: Statement & { supersedes: string | undefined },
): void {
  const { text, sources, quote, status, supersedes } = said;
  const day = at(sources[0] ?? 0);
  putItem(draft, section, {
    text,
    sources: [...sources],
    ...(quote !== undefined && { quote }),
    ...(day !== undefined && { at: day }),
    ...(status !== undefined && { status }),
    importance,
    ...(supersedes !== undefined && { supersedes }),
    by: 'model',
  });
}

function place(application: Application, add: AddOperation, said: Statement): Refusal {
  const { draft } = application;
  const { section } = add;
  const known = findText(draft, section, said.text);
  const named = replacedBy(draft, add);
  const replaced = named?.id === known?.id ? undefined : named;
  const cited = { quote: findQuote(add), text: said.text, sources: add.sources };
  const refusal = replaced && endRefusal(application, replaced, cited);
  if (refusal !== undefined) return refusal;
  if (known === undefined && isArchived(draft, { ...said, section })) return undefined;
  if (replaced !== undefined) archiveItem(draft, retireCopies(draft, replaced));
  if (known !== undefined) merge(draft, { ...known, section }, said);
  else create(application, add, { ...said, supersedes: replaced?.id });
  return undefined;
}

const KNOWLEDGE_SECTION = 'key_knowledge';

/** Places a statement as knowledge: it may be no rule and no step, and says something all the same. */
function placeAsKnowledge(
  application: Application,
  said: Statement,
  importance?: AddOperation['importance'],
): void {
  const add: AddOperation = {
    op: 'add',
    section: KNOWLEDGE_SECTION,
    text: said.text,
    sources: [...said.sources],
    ...(importance !== undefined && { importance }),
  };
  place(application, add, { ...said, quote: undefined });
}

/**
 * The same for what a model wrote as a rule, where the user says most of it himself: what others say stays out. Of a
 * rule that stands in the words of its `quote` only where it says a value that the quote lacks: else it says it twice.
 */
export function keepWording(
  application: Application,
  said: Statement,
  { quote, importance }: { quote?: string; importance?: AddOperation['importance'] } = {},
): void {
  if (!isOfUser(said, application.evidence)) return;
  const index = indexFacts([quote ?? '']);
  const isMore = checkedValuesIn(said.text).some((value) => !isValueHeld(value, index));
  if (quote === undefined || isMore) placeAsKnowledge(application, said, importance);
}

/**
 * What may stand in a section of a statement: without what strangers say. A tool's words become knowledge, with whose
 * words they are; what is known stays as it is. '' where nothing is left.
 */
export function withoutStrangers(
  application: Application,
  { section, said, earlierText }: Guidance,
): string {
  const { own, strangers } = partStrangers(section, { said, earlierText }, application);
  for (const { text, by } of strangers)
    if (by === 'tool')
      placeAsKnowledge(application, { ...said, text: asToldByTool(text), status: undefined });
  return own;
}

/** A new item of any section but that of the rules. */
function addStatement(application: Application, add: AddOperation, said: Statement): Refusal {
  const { section } = add;
  const own = { ...said, text: withoutStrangers(application, { section, said }) };
  if (own.text === '') return 'WORDS_OF_TOOL';
  return place(
    application,
    { ...add, section: sectionFor(application, { section, said: own }) },
    own,
  );
}

/**
 * A new item, unless the section says the same already: then that one gets the sources. What it
 * supersedes, and the old item of a section of one, goes to the archive.
 */
export function applyAdd(application: Application, add: AddOperation): Refusal {
  const { draft, evidence } = application;
  const sections: readonly string[] = snapshotSections[draft.base.profile];
  if (!sections.includes(add.section)) return 'UNKNOWN_SECTION';
  const folded = add.sources.filter((seq) => evidence.has(seq));
  if (folded.length === 0) return 'NO_SOURCE';
  const sources = mergeSources(folded, []);
  const said = toStatement(add, sources, evidence);
  if (add.section !== constraintSection) return addStatement(application, add, said);
  const stated = statedByUser({ quote: findQuote(add), text: said.text, sources }, evidence);
  if (!stated.ok) {
    keepWording(application, said, { importance: add.importance });
    return stated.reason;
  }
  const text = constraintText(said.text, stated, { evidence });
  const { quote } = stated;
  const refusal = place(application, add, { ...said, text, quote, sources: stated.sources });
  if (refusal !== undefined) return refusal;
  dropCopies(application.draft, text);
  if (text !== said.text) keepWording(application, said, { quote, importance: add.importance });
  return undefined;
}
