import {
  citedTurns,
  constraintSection,
  goalSection,
  lastSource,
  snapshotSections,
  timelineSection,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { cutHead, oneLine, textKey } from '#shared/text/cut.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import { engineConstants } from './constants.ts';
import type {
  AddOperation,
  Operation,
  RemoveOperation,
  SummariserAnswer,
  Topic,
  UpdateOperation,
} from './operations.ts';
import { quotedSentences, type QuoteRefusal } from './quotes.ts';
import { splitStatus } from './render.ts';
import { withoutMarks } from './values.ts';
import { knowledgeSection, whoseWords, type TurnEvidence, type WhoseWords } from './whose-words.ts';

/** What an operation says, with turns that have been checked. */
interface Statement {
  text: string;
  /** Ascending; empty where nobody knows. */
  sources: readonly number[];
  quote?: string | undefined;
  status?: Item['status'];
  importance?: Item['importance'] | undefined;
}

export type RefusalReason =
  | 'UNKNOWN_SECTION'
  | 'UNKNOWN_ID'
  /** It makes a goal or a step of what a tool says, or of what is known from earlier. */
  | 'WORDS_OF_TOOL'
  /** Its stretch is none of the folded turns. */
  | 'UNKNOWN_TURNS'
  /** It runs in a loop. */
  | 'REPETITIVE'
  | QuoteRefusal;

/** What was not done as it was asked. */
interface Refusal {
  text: string;
  reason: RefusalReason;
}

/** What operations are checked against. */
interface ApplyInput {
  evidence: TurnEvidence;
  /** The day of a turn, `2026-11-21`. */
  dayOf: (seq: number) => string | undefined;
}

export interface AppliedAnswer {
  snapshot: Snapshot;
  /** Ids of items that are new or have other words. */
  made: ReadonlySet<string>;
  refused: Refusal[];
  /** Items that a later turn ended, and what they had taken the place of. */
  removed: { text: string; reason: string }[];
  /** Statements that were too long for one item. */
  shortened: string[];
}

/**
 * A snapshot after the answer of a model, its operations in their order, each checked by code: an item that none of
 * them names stays as it is; sources that were not folded are dropped; constraints are made, changed and ended only by
 * whole sentences that the user said, later ones for what is there already; words of tools stay theirs. Equal statements of
 * a section become one. What is replaced or loses its words goes to the archive, what is removed is told; an id is never
 * used again. The topics are appended to the timeline in the order of their turns. Linear, but for constraints, of which each is compared with each.
 */
export function applyAnswer(
  previous: Snapshot,
  { operations, topics }: SummariserAnswer,
  input: ApplyInput,
): AppliedAnswer {
  const application = new Application(previous, input);
  for (const operation of operations) application.apply(operation);
  for (const topic of topics.toSorted(inOrder)) application.appendTopic(topic);
  const { editor, refused, removed, shortened } = application;
  return {
    snapshot: mergeConstraints(editor.snapshot()),
    made: editor.made,
    refused,
    removed,
    shortened,
  };
}

const inOrder = (one: Topic, other: Topic): number =>
  one.from - other.from || one.through - other.through;

const sentenceKeys = ({ text }: Item): Set<string> => new Set(splitSentences(text).map(textKey));

/** Constraints of which one has all sentences of the other are one: the longer, with the turns of both. */
function mergeConstraints(snapshot: Snapshot): Snapshot {
  const items = snapshot.sections[constraintSection] ?? [];
  const keys = new Map(items.map((item) => [item.id, sentenceKeys(item)]));
  const merged = new Map(items.map((item) => [item.id, item]));
  for (const { id } of items) {
    // With the turns of those that it has taken in.
    const shorter = merged.get(id);
    const sentences = keys.get(id) ?? new Set<string>();
    const longer = [...merged.values()].find(
      (other) => other.id !== id && [...sentences].every((key) => keys.get(other.id)?.has(key)),
    );
    if (shorter === undefined || longer === undefined) continue;
    merged.delete(id);
    const sources = citedTurns([...longer.sources, ...shorter.sources]);
    merged.set(longer.id, { ...longer, sources });
  }
  if (merged.size === items.length) return snapshot;
  return {
    ...snapshot,
    sections: { ...snapshot.sections, [constraintSection]: [...merged.values()] },
  };
}

class Application {
  readonly editor: SnapshotEditor;
  readonly refused: Refusal[] = [];
  readonly removed: { text: string; reason: string }[] = [];
  readonly shortened: string[] = [];
  private readonly evidence: TurnEvidence;
  private readonly words: WhoseWords;
  private readonly dayOf: ApplyInput['dayOf'];

  constructor(previous: Snapshot, { evidence, dayOf }: ApplyInput) {
    this.editor = new SnapshotEditor(previous);
    this.evidence = evidence;
    this.words = whoseWords(evidence, previous);
    this.dayOf = dayOf;
  }

  apply(operation: Operation): void {
    switch (operation.op) {
      case 'add':
        return this.add(operation);
      case 'update':
        return this.update(operation);
      case 'remove':
        return this.remove(operation);
    }
  }

  private refuse(text: string, reason: RefusalReason): void {
    this.refused.push({ text: oneLine(text), reason });
  }

  private statementOf(
    operation: AddOperation | UpdateOperation,
    sources: readonly number[],
  ): Statement {
    const { text, status } = statementText(operation.text);
    const limit = engineConstants.itemTextCharacters;
    if (text.length > limit) this.shortened.push(text);
    return {
      text: cutAtClause(text, limit),
      sources,
      status: operation.status ?? status,
      importance: operation.importance,
    };
  }

  /** Whether an item may end: a constraint only by later words of the user. Refuses the operation where it may not. */
  private mayEnd(
    item: ArchivedItem,
    cited: { quote?: string | undefined; text?: string; sources: readonly number[] },
  ): boolean {
    if (item.section !== constraintSection) return true;
    const quoted = quotedSentences(cited, this.evidence, {
      least: engineConstants.withdrawalQuoteCharacters,
      afterSeq: lastSource(item),
    });
    if (!quoted.ok) this.refuse(item.text, quoted.reason);
    return quoted.ok;
  }

  /** Places a statement: new, or as further sources of the item that says the same. */
  private place(section: string, statement: Statement, replaced?: ArchivedItem): void {
    const { editor } = this;
    const same = editor.saying(section, statement.text);
    if (same === undefined && editor.isArchived(section, statement)) return;
    const old = replaced?.id === same?.id ? undefined : replaced;
    if (old !== undefined) editor.archiveItem(old);
    const { text, sources, quote, status } = statement;
    if (same !== undefined) {
      editor.put(section, {
        ...same,
        sources: citedTurns([...same.sources, ...sources]),
        ...(status !== undefined && { status }),
        // A removal of this item takes away what it replaced, too: else that would hold again.
        ...(old !== undefined && { supersedes: same.supersedes ?? old.id }),
      });
      return;
    }
    const day = sources[0] === undefined ? undefined : this.dayOf(sources[0]);
    editor.put(section, {
      text,
      sources: [...sources],
      ...(quote !== undefined && { quote }),
      ...(day !== undefined && { at: day }),
      ...(status !== undefined && { status }),
      importance: statement.importance ?? 2,
      ...(old !== undefined && { supersedes: old.id }),
      by: 'model',
    });
  }

  /** Keeps a statement that may be no constraint as knowledge, where the user says most of it himself. */
  private keepAsKnowledge(statement: Statement): void {
    if (this.words.isOfUser(statement))
      this.place(knowledgeSection, { ...statement, quote: undefined, status: undefined });
  }

  /**
   * A statement as it may stand in a section: without the clauses that are words of tools, which become knowledge and say
   * whose words they are. Its text is blank where nothing remains.
   */
  private withoutToolWords(section: string, statement: Statement, earlierText?: string): Statement {
    const { rest, ofTools } = this.words.part({ section, ...statement, earlierText });
    for (const text of ofTools)
      this.place(knowledgeSection, { ...statement, text, status: undefined, quote: undefined });
    const losesWords = rest !== statement.text && (rest === '' || ofTools.length === 0);
    if (losesWords) this.refuse(statement.text, 'WORDS_OF_TOOL');
    return { ...statement, text: rest };
  }

  private add(operation: AddOperation): void {
    const { editor } = this;
    const { section } = operation;
    const sections: readonly string[] = snapshotSections[editor.previous.profile];
    if (!sections.includes(section) || section === timelineSection)
      return this.refuse(operation.text, 'UNKNOWN_SECTION');
    const statement = this.statementOf(operation, this.countedSources(operation.sources));
    if (section === constraintSection) return this.addConstraint(operation, statement);
    const remaining = this.withoutToolWords(section, statement);
    if (remaining.text === '') return;
    const target = this.words.sectionFor({ section, ...remaining });
    this.place(target, remaining, this.replacedBy(operation, { ...remaining, section: target }));
  }

  /** The item that an `add` takes the place of: the one of a section of one item, else the one it names. */
  private replacedBy(
    { quote, supersedes }: AddOperation,
    { section, text, sources }: Statement & { section: string },
  ): ArchivedItem | undefined {
    if (section === goalSection) return this.editor.only(section);
    const named = supersedes === undefined ? undefined : this.editor.previousItem(supersedes);
    return named && this.mayEnd(named, { quote, text, sources }) ? named : undefined;
  }

  private addConstraint(operation: AddOperation, statement: Statement): void {
    const quoted = quotedSentences(
      { quote: operation.quote, text: statement.text, sources: statement.sources },
      this.evidence,
      { least: engineConstants.constraintQuoteCharacters },
    );
    if (!quoted.ok) {
      this.refuse(statement.text, quoted.reason);
      return this.keepAsKnowledge(statement);
    }
    const { text } = quoted;
    const rule = { ...statement, text, quote: text, sources: [quoted.seq], status: undefined };
    this.place(
      constraintSection,
      rule,
      this.replacedBy({ ...operation, quote: text }, { ...rule, section: constraintSection }),
    );
  }

  /** The cited turns that count: folded ones, and those that the item cites already. */
  private countedSources(cited: readonly number[], item?: ArchivedItem): number[] {
    const known = new Set(item?.sources);
    return citedTurns(cited.filter((seq) => this.evidence.has(seq) || known.has(seq)));
  }

  /**
   * New words for an item, with the turns that say so; what the operation does not name stays. Its old words, if
   * they say something else, go to the archive under an id of their own.
   */
  private update(operation: UpdateOperation): void {
    const item = this.editor.previousItem(operation.id);
    if (item === undefined) return this.refuse(operation.text, 'UNKNOWN_ID');
    const statement = this.statementOf(operation, this.countedSources(operation.sources, item));
    if (item.section === constraintSection) return this.extend(item, operation, statement);
    const { section } = item;
    const remaining = this.withoutToolWords(section, statement, item.text);
    if (remaining.text === '') return;
    const target = this.words.sectionFor({ section, ...remaining, earlierText: item.text });
    if (target !== section) {
      this.refuse(remaining.text, 'WORDS_OF_TOOL');
      return this.place(target, remaining);
    }
    if (operation.isBeside === true && section !== goalSection)
      return this.place(section, {
        ...remaining,
        sources: citedTurns([...item.sources, ...remaining.sources]),
      });
    // Where words are left out, an item that was to be merged may be the one that says them.
    const merged = remaining.text === statement.text ? this.mergedSources(operation) : [];
    this.change(item, { ...remaining, sources: citedTurns([...remaining.sources, ...merged]) });
  }

  /**
   * The items that an update takes in go to the archive: what they said is found there as they said it. Returns the turns
   * that they cite, so that the erasure of one of them finds the merged words, too.
   */
  private mergedSources({ id, merges = [] }: UpdateOperation): number[] {
    return merges.flatMap((other) => {
      const item = other === id ? undefined : this.editor.previousItem(other);
      if (item === undefined || item.section === constraintSection) return [];
      this.editor.archiveItem(item);
      return item.sources;
    });
  }

  private change(old: ArchivedItem, statement: Statement): void {
    const { section, quote: _quote, ...item } = old;
    const isSame = textKey(statement.text) === textKey(item.text);
    const supersedes = (isSame ? undefined : this.editor.archiveWords(old)) ?? item.supersedes;
    const newest = statement.sources.at(-1);
    const day = isSame || newest === undefined ? undefined : this.dayOf(newest);
    this.editor.put(section, {
      ...item,
      text: statement.text,
      sources: citedTurns([...item.sources, ...statement.sources]),
      ...(supersedes !== undefined && { supersedes }),
      ...(statement.quote !== undefined && { quote: statement.quote }),
      ...(day !== undefined && { at: day }),
      ...(statement.status !== undefined && { status: statement.status }),
      ...(statement.importance !== undefined && { importance: statement.importance }),
      by: isSame ? item.by : 'model',
    });
  }

  /** Puts what the user said later behind a constraint: the half that did not change stays in his words. */
  private extend(item: ArchivedItem, operation: UpdateOperation, statement: Statement): void {
    const quoted = quotedSentences(
      { quote: operation.quote, text: statement.text, sources: statement.sources },
      this.evidence,
      {
        least: engineConstants.withdrawalQuoteCharacters,
        afterSeq: lastSource(item),
      },
    );
    if (!quoted.ok) {
      this.refuse(statement.text, quoted.reason);
      return this.keepAsKnowledge(statement);
    }
    const text = `${item.text} ${quoted.text}`;
    const { importance } = statement;
    const rule = { quote: quoted.text, sources: [quoted.seq], importance };
    // Neither half is cut: where both are too long for one item, the later one is a rule of its own.
    if (text.length > engineConstants.constraintCharacters)
      this.place(constraintSection, { ...rule, text: quoted.text });
    else this.change(item, { ...rule, text });
  }

  /**
   * The item is gone, with what it took the place of: it was wrong. Where no turn is cited it only makes room, and goes to
   * the archive.
   */
  private remove(operation: RemoveOperation): void {
    const item = this.editor.previousItem(operation.id);
    if (item === undefined) return this.refuse(operation.reason, 'UNKNOWN_ID');
    const { quote, sources } = operation;
    if (!this.mayEnd(item, { quote, sources })) return;
    if (item.section !== constraintSection && this.countedSources(sources, item).length === 0)
      return this.editor.archiveItem(item);
    this.editor.drop(item);
    const reason = oneLine(operation.reason);
    for (const { text } of [item, ...this.editor.forgetReplaced(item)])
      this.removed.push({ text, reason });
  }

  /** A line of the timeline: what a stretch of the folded turns was about. */
  appendTopic({ title, from, through }: Topic): void {
    const turns = this.evidence.seqs.filter((seq) => seq >= from && seq <= through);
    const [first] = turns;
    const last = turns.at(-1);
    const limit = engineConstants.topicTitleCharacters;
    const text = cutAtClause(statementText(title).text, limit);
    if (first === undefined || last === undefined || text === '')
      return this.refuse(title, 'UNKNOWN_TURNS');
    const { rest, ofTools } = this.words.part({ section: timelineSection, text, sources: turns });
    const topic = rest === '' ? ofTools[0] : rest;
    if (topic === undefined) return this.refuse(title, 'WORDS_OF_TOOL');
    const day = this.dayOf(first);
    this.editor.put(timelineSection, {
      text: topic,
      sources: [first],
      through: last,
      ...(day !== undefined && { at: day }),
      importance: 2,
      by: 'model',
    });
  }
}

// The texts of statements

/** How code marks whose words a sentence is: a model may not, nor behind signs that nobody sees. */
const speakerLabel =
  /^[\s\p{Cf}]*(?:(?:user|assistant|tool|shown by the user)[\s\p{Cf}]*:[\s\p{Cf}]*)+/iu;

/** A statement as a model wrote it, with what it may not write taken away: labels, marks, a status in words. */
function statementText(written: string): { text: string; status?: Item['status'] } {
  const { text, status } = splitStatus(oneLine(withoutMarks(written)).replace(speakerLabel, ''));
  return { text: text.replace(speakerLabel, ''), ...(status !== undefined && { status }) };
}

/** Behind it a clause ends; a point within a link or a number ends none. */
const clauseEnd = /[;；。，、]|[.,](?=\s)/gu;

/** A text of at most so many characters: cut behind its last clause, else its last word. */
export function cutAtClause(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = cutHead(text, characters);
  const clause = [...head.matchAll(clauseEnd)].at(-1)?.index ?? 0;
  const end = clause > head.length / 2 ? clause : head.lastIndexOf(' ');
  return (end > head.length / 2 ? head.slice(0, end) : head).trimEnd();
}

// The snapshot meanwhile

/** A snapshot while operations are applied to it; every step on it takes constant time. */
class SnapshotEditor {
  readonly previous: Snapshot;
  /** Ids of items that the operations made or gave other words. */
  readonly made = new Set<string>();
  private readonly sections = new Map<string, Map<string, Item>>();
  private readonly sectionById = new Map<string, string>();
  private readonly idByText = new Map<string, string>();
  private readonly archive = new Map<string, ArchivedItem>();
  private readonly archivedByText = new Map<string, ArchivedItem[]>();
  private nextId: number;

  constructor(previous: Snapshot) {
    this.previous = previous;
    this.nextId = previous.nextId;
    for (const [section, items] of Object.entries(previous.sections))
      for (const item of items) this.place(section, item);
    for (const item of previous.archive) this.putArchived(item);
  }

  private place(section: string, item: Item): void {
    const items = this.sections.get(section) ?? new Map<string, Item>();
    items.set(item.id, item);
    this.sections.set(section, items);
    this.sectionById.set(item.id, section);
    const key = placeKey(section, item.text);
    if (!this.idByText.has(key)) this.idByText.set(key, item.id);
  }

  private forgetText(section: string, item: Item): void {
    const key = placeKey(section, item.text);
    if (this.idByText.get(key) === item.id) this.idByText.delete(key);
  }

  private putArchived(item: ArchivedItem): void {
    this.archive.set(item.id, item);
    const key = placeKey(item.section, item.text);
    this.archivedByText.set(key, [...(this.archivedByText.get(key) ?? []), item]);
  }

  /** The item of the working layer with this id, of those that were there before. */
  previousItem(id: string): ArchivedItem | undefined {
    // An answer cannot mean an item that it makes itself.
    if (Number(id.replace(/^i/u, '')) >= this.previous.nextId) return undefined;
    const section = this.sectionById.get(id);
    const item = section === undefined ? undefined : this.sections.get(section)?.get(id);
    return section === undefined || item === undefined || section === timelineSection
      ? undefined
      : { ...item, section };
  }

  /** The only item of a section of one. */
  only(section: string): ArchivedItem | undefined {
    const [item] = this.sections.get(section)?.values() ?? [];
    return item && { ...item, section };
  }

  /** The item of a section that says this text, however it is written. */
  saying(section: string, text: string): Item | undefined {
    const id = this.idByText.get(placeKey(section, text));
    return id === undefined ? undefined : this.sections.get(section)?.get(id);
  }

  /** Whether the archive has this text from all of these turns: saying it again says nothing new. */
  isArchived(section: string, { text, sources }: Pick<Statement, 'text' | 'sources'>): boolean {
    return (this.archivedByText.get(placeKey(section, text)) ?? []).some(
      (item) => this.archive.has(item.id) && sources.every((seq) => item.sources.includes(seq)),
    );
  }

  /** Adds an item under a new id, or replaces the one with its id. */
  put(section: string, item: Omit<Item, 'id'> & { id?: string }): void {
    const stored: Item = { ...item, id: item.id ?? `i${this.nextId++}` };
    const old = this.sections.get(section)?.get(stored.id);
    if (old !== undefined) this.forgetText(section, old);
    if (old?.text !== stored.text) this.made.add(stored.id);
    this.place(section, stored);
  }

  /** Takes an item out of the working layer. */
  drop({ section, ...item }: ArchivedItem): void {
    this.forgetText(section, item);
    this.sectionById.delete(item.id);
    this.sections.get(section)?.delete(item.id);
  }

  /** Moves an item from the working layer to the archive. */
  archiveItem(item: ArchivedItem): void {
    this.drop(item);
    this.putArchived(item);
  }

  /**
   * Puts the words that an item is about to lose into the archive, as an item of their own. Returns its id; undefined for
   * words that these operations themselves gave it: nobody has seen them.
   */
  archiveWords(item: ArchivedItem): string | undefined {
    if (this.made.has(item.id)) return undefined;
    const id = `i${this.nextId++}`;
    this.putArchived({ ...item, id });
    return id;
  }

  /** Takes away what an item took the place of, and what that did: without it they would hold again. Returns them. */
  forgetReplaced({ supersedes }: ArchivedItem): ArchivedItem[] {
    const forgotten: ArchivedItem[] = [];
    for (
      let replaced = this.archive.get(supersedes ?? '');
      replaced !== undefined;
      replaced = this.archive.get(replaced.supersedes ?? '')
    ) {
      this.archive.delete(replaced.id);
      forgotten.push(replaced);
    }
    return forgotten;
  }

  snapshot(): Snapshot {
    return {
      ...this.previous,
      sections: Object.fromEntries(
        [...this.sections].map(([section, items]) => [section, [...items.values()]]),
      ),
      archive: [...this.archive.values()],
      nextId: this.nextId,
    };
  }
}

const placeKey = (section: string, text: string): string => `${section}\n${textKey(text)}`;
