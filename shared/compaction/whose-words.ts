import {
  constraintSection,
  everyItem,
  goalSection,
  timelineSection,
  workingItems,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { once } from '#shared/lib/once.ts';
import { oneLine, textKey } from '#shared/text/cut.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import {
  distinctUnits,
  distinctWords,
  topicWords,
  hashAsciiWords,
  hashUnit,
  unitsIn,
} from '#shared/text/words.ts';
import { engineConstants } from './constants.ts';
import { useOf } from './sections.ts';
import {
  acceptedIn,
  ownLines,
  ownSentences,
  type OwnSentence,
  type TextSpan,
  withoutQuotations,
  withoutTakenBack,
} from './user-words.ts';

/*
 * Who said it first. What a tool, a file, a hook or a recalled text said stays theirs, whoever repeats it: only what the
 * user says himself, or accepts of the model's own proposals, is his will.
 */

// What was said in the folded turns

/** What one speaker says in a turn. */
export type TurnSpeech = Pick<Utterance, 'speaker' | 'text'>;

/** A sentence where it stands in what the user says himself in a turn. */
export interface UserSentence extends OwnSentence {
  text: string;
}

/** What model and tools say, to be looked through. */
interface OthersSpeeches {
  passages: Passages;
  /** Whether a text of `passages` is the model's, calls too; else a tool's. */
  isOfModel: (text: number) => boolean;
}

/** The folded turns as quotes are looked for in them: on one line, each read once. */
export interface TurnEvidence {
  /** The folded turns. */
  seqs: readonly number[];
  has: (seq: number) => boolean;
  /** The whole sentences that the user says himself: without what he shows, quotes alone, and takes back at once. */
  userSentences: (seq: number) => readonly UserSentence[];
  /** From the beginning of one of these sentences to the end of another, as he wrote it, on one line. */
  userText: (seq: number, stretch: TextSpan) => string;
  /** What the user says himself, without what his sentences quote. */
  ownText: (seq: number) => string;
  /** Of `ownText`. */
  ownUnits: (seq: number) => Units;
  /** Of what the model has proposed and the user accepts in this turn. */
  acceptedUnits: (seq: number) => Units;
  /** Of what user and model say to each other, calls too. */
  talkTopics: (seq: number) => Units;
  /** Of all that is said. */
  allTopics: (seq: number) => Units;
  /** What model and tools say, in order. */
  others: () => OthersSpeeches;
}

/**
 * Turns that are not in `turns`, which are in order, have said nothing. `recalled`: what tools said before them that a
 * message brought back.
 */
export function toEvidence(
  turns: ReadonlyMap<number, readonly TurnSpeech[]>,
  recalled: readonly string[] = [],
): TurnEvidence {
  const speechesIn = (seq: number): readonly TurnSpeech[] => turns.get(seq) ?? [];
  const seqs = [...turns.keys()];
  const ownPart = onceEach((seq) =>
    withoutTakenBack(
      ownLines(textOf(speechesIn(seq), ({ speaker }) => speaker === 'user')).toWellFormed(),
    ),
  );
  const ownText = onceEach((seq) => oneLine(withoutQuotations(ownPart(seq))));
  const all = (seq: number): string => textOf(speechesIn(seq), () => true);
  const accepted = (seq: number): string =>
    acceptedIn(ownText(seq), speechesIn(seqs[seqs.indexOf(seq) - 1] ?? -1));
  return {
    seqs,
    has: (seq) => turns.has(seq),
    ownText,
    userText: (seq, { start, end }) => oneLine(ownPart(seq).slice(start, end)),
    userSentences: onceEach((seq) =>
      ownSentences(ownPart(seq)).map((span) => ({
        ...span,
        text: ownPart(seq).slice(span.start, span.end),
      })),
    ),
    ownUnits: onceEach((seq) => distinctUnits(ownText(seq))),
    acceptedUnits: onceEach((seq) => distinctUnits(accepted(seq))),
    talkTopics: onceEach((seq) =>
      topicWords(distinctWords(textOf(speechesIn(seq), ({ speaker }) => speaker !== 'tool'))),
    ),
    allTopics: onceEach((seq) => topicWords(distinctWords(all(seq)))),
    others: once(() => {
      const before = recalled.map((text) => ({ speaker: 'tool' as const, text }));
      const since = [...turns.values()].flat().filter(({ speaker }) => speaker !== 'user');
      const speeches = [...before, ...since];
      return {
        passages: toPassages(speeches.map(({ text }) => text)),
        isOfModel: (text) => speeches[text]?.speaker !== 'tool',
      };
    }),
  };
}

function onceEach<Result>(read: (seq: number) => Result): (seq: number) => Result {
  const known = new Map<number, Result>();
  return (seq) => {
    const result = known.get(seq) ?? read(seq);
    known.set(seq, result);
    return result;
  };
}

const textOf = (speeches: readonly TurnSpeech[], isMeant: (one: TurnSpeech) => boolean): string =>
  speeches
    .filter(isMeant)
    .map(({ text }) => text)
    .join('\n');

// Whose words a statement has

/** A statement whose words are judged. */
interface JudgedStatement {
  section: string;
  text: string;
  sources: readonly number[];
  /** What its item said before. */
  earlierText?: string | undefined;
}

/** A statement by whose words it has. */
interface PartedStatement {
  /** What is left of it without the clauses of strangers; '' where nothing is. */
  rest: string;
  /** The clauses of tools, each with whose words they are. */
  ofTools: string[];
}

/** Judges whose words statements have, against the folded turns and what was known before. */
export interface WhoseWords {
  /**
   * Parts a statement into what may be the will of the user or a step of the model, and what stands in the words of a
   * tool, of a file, or of what an earlier run noted of them. Where most words of a clause stand close together in such
   * a text, and the user has not said as many of them, the clause is a stranger's.
   */
  part(statement: JudgedStatement): PartedStatement;
  /**
   * Where a statement goes: a goal or a step in the words of a tool is knowledge, and what an earlier summary
   * knows is no goal by being said again in the same words; both are nothing to do. What user and model said
   * to each other in the cited turns stays where it was meant to go.
   */
  sectionFor(statement: JudgedStatement): string;
  /** Whether the user says himself, in the cited turns, most of what a statement says. */
  isOfUser(statement: Pick<JudgedStatement, 'text' | 'sources'>): boolean;
}

/** A clause of fewer words tells nothing alone. */
const CLAUSE_UNITS = 3;

/** Behind the end of a clause: of a sentence, a point of a list, words that announce others. */
const clauseBorder = /(?<=[;；。！？：]|[:.!?]["'”’»)*_]{0,3}\s|\s[-–—•*]\s)/u;

/** Linear in the folded turns for each statement. */
export function whoseWords(evidence: TurnEvidence, previous: Snapshot): WhoseWords {
  const notes = once(() => knownNotes(previous));
  const knownSections = once(
    () =>
      new Map(
        // A rule that has left holds again only by a quote.
        [
          ...previous.archive.filter(({ section }) => section !== constraintSection),
          ...workingItems(previous),
        ]
          .filter(({ section }) => !guidingSections.has(section) && section !== timelineSection)
          .map(({ text, section }) => [textKey(text), section]),
      ),
  );
  const strangerIn = (units: Units, statement: JudgedStatement): Stranger | undefined => {
    const tool = saidByTool(units, evidence);
    const stranger = tool ? { passage: tool, by: 'tool' as const } : notedBefore(units, notes());
    if (stranger === undefined) return undefined;
    const isWanted =
      shareOfUser(units, statement, evidence) >= stranger.passage.share ||
      isAccepted(units, evidence);
    return isWanted ? undefined : stranger.by;
  };
  const partedAs = (text: string, by: Stranger): PartedStatement => ({
    rest: '',
    ofTools: by === 'tool' ? [asToldByTool(text)] : [],
  });
  return {
    part(statement) {
      const { text, section } = statement;
      const { isMeant, by } = scopeOf(section);
      const strangerOf = (units: Units): Stranger | undefined => {
        const stranger = strangerIn(units, statement);
        return stranger !== undefined && by.has(stranger) ? stranger : undefined;
      };
      const ofAll = isMeant(text) ? strangerOf(distinctUnits(text)) : undefined;
      if (ofAll !== undefined) return partedAs(text, ofAll);
      const clauses = text.split(clauseBorder).map((clause) => {
        const units = distinctUnits(clause);
        const isLookedInto = isMeant(text) && units.size >= CLAUSE_UNITS;
        return { clause, units: units.size, by: isLookedInto ? strangerOf(units) : undefined };
      });
      const strange = clauses.filter((clause) => clause.by !== undefined);
      const weigh = (those: typeof clauses): number =>
        those.reduce((sum, { units }) => sum + units, 0);
      const [first] = strange;
      if (first?.by === undefined) return { rest: text, ofTools: [] };
      // A page that was copied, of which only headings are left.
      if (weigh(strange) >= engineConstants.strangerClauseFraction * weigh(clauses))
        return partedAs(text, first.by);
      const parted = strange.filter(({ clause }) => isMeant(clause));
      const rest = clauses.filter((clause) => !parted.includes(clause));
      return {
        rest: rest
          .map(({ clause }) => clause)
          .join('')
          .trim(),
        ofTools: parted.flatMap(({ clause, by: stranger }) =>
          stranger === 'tool' ? [asToldByTool(clause.trim())] : [],
        ),
      };
    },
    sectionFor({ section, text, sources, earlierText = '' }) {
      if (!guidingSections.has(section)) return section;
      const words = topicWords(distinctWords(text));
      const talk = {
        topics: evidence.talkTopics,
        known: topicWords(distinctWords(earlierText)),
      };
      if (shareSaid(words, sources, talk) >= engineConstants.talkWordFraction) return section;
      const known = knownSections().get(textKey(text));
      return known ?? (isOfTool(words, sources, evidence) ? knowledgeSection : section);
    },
    isOfUser({ text, sources }) {
      const topics = (seq: number): Units => topicWords(distinctWords(evidence.ownText(seq)));
      const words = topicWords(distinctWords(text));
      return shareSaid(words, sources, { topics }) >= engineConstants.talkWordFraction;
    },
  };
}

/** Whose words a statement has: `known`: only of what an earlier run noted of a tool's. */
type Stranger = 'tool' | 'known';

const quotationMarks = /^"(.*)"$/su;

const toolLabel = /^Tool: "(.*)"$/su;

/** A statement with whose words it is; in one pair of marks. */
const asToldByTool = (text: string): string =>
  `Tool: "${oneLine(quotationMarks.exec(text)?.[1] ?? text)}"`;

/** The section of what is known, whoever said it. */
export const knowledgeSection = 'key_knowledge';

/** Sections that tell the model what to do next. */
const guidingSections: ReadonlySet<string> = new Set([goalSection, 'task_state']);

const tellsWishes = (section: string): boolean => useOf(section)?.tellsWishes === true;

/** What of a statement is looked into. */
interface Scope {
  isMeant: (text: string) => boolean;
  by: ReadonlySet<Stranger>;
}

/**
 * Where a section tells what the user wants and what to do, all. In the title of a topic what a tool says: what is known
 * is talked about again. Elsewhere what is told of the user, so that no tool speaks for him.
 */
function scopeOf(section: string): Scope {
  if (tellsWishes(section)) return { isMeant: () => true, by: new Set(['tool', 'known']) };
  return {
    isMeant: section === timelineSection ? () => true : claimsAboutUser,
    by: new Set(['tool']),
  };
}

// Words of strangers

/** What people and models call whoever they serve. */
const userNouns = String.raw`(?<![\p{L}\p{N}])(?:users?|nutzer(?:in|s)?|benutzer(?:in|s)?|anwender(?:in)?|utilisateurs?|utilisatrice|usuari[oa]s?|usuári[oa]s?|utilizador(?:a|es)?|utente|utenti)(?![\p{L}\p{N}])|用户|用戶|使用者|ユーザー?|利用者|사용자|이용자`;

/** What he is told to say or to want; or a colon or a mark, behind which he seems to speak. */
const userSpeech = String.raw`["“”„«»「『‘:：]|(?<![\p{L}])(?:sa(?:id|ys?)|told|tells?|ask(?:s|ed)?|want(?:s|ed)?|wish(?:es|ed)?|need(?:s|ed)?|require[sd]?|insist(?:s|ed)?|instruct(?:s|ed)?|order(?:s|ed)?|prefer(?:s|red)?|decide[sd]?|approve[sd]?|agree[sd]?|allow(?:s|ed)?|confirm(?:s|ed)?|sag\p{L}*|gesagt|bat|bitte[tn]?|will|wollte|möchte|wünsch\p{L}*|verlang\p{L}*|forder\p{L}*|entschied\p{L}*|erlaub\p{L}*|dit|demand\p{L}*|veut|voulait|souhait\p{L}*|exig\p{L}*|dijo|dice|dicho|pid[eió]\p{L}*|quiere|quería|dese[ao]\p{L}*|disse|diz|pediu|quer|queria|detto|dice|chie\p{L}+|vuole|voleva|desidera)(?![\p{L}])|说|說|要求|希望|想要?|同意|言|望|求め|欲し|頼|말|원하|원한|요청|부탁|요구`;

const tellsOfUser = new RegExp(`(?:${userNouns})[^.?!。？！\n]{0,40}?(?:${userSpeech})`, 'iu');

/** Whether a statement tells what the user says or wants. */
const claimsAboutUser = (text: string): boolean => tellsOfUser.test(text.normalize('NFKC'));

/** Where a tool says it before the model does: what the model says first is its own, also where a tool repeats it. */
function saidByTool(units: Units, evidence: TurnEvidence): Passage | undefined {
  const { passages, isOfModel } = evidence.others();
  const least = engineConstants.strangerWordFraction;
  const passage = passages.firstHolding(units, least, (text) => !isOfModel(text));
  if (passage === undefined) return undefined;
  const isRepeated =
    passages.firstHolding(
      units,
      passage.share,
      (text) => isOfModel(text) && text < passage.text,
    ) !== undefined;
  return isRepeated ? undefined : passage;
}

/** What earlier runs noted of what was read or done. */
interface KnownNotes {
  passages: Passages;
  /** Whether a text of `passages` has the label of a tool. */
  isLabelled: (text: number) => boolean;
}

function knownNotes(snapshot: Snapshot): KnownNotes {
  const texts = everyItem(snapshot)
    .filter(({ section }) => !tellsWishes(section))
    .map(({ text }) => text);
  return {
    passages: toPassages(texts.map((text) => toolLabel.exec(text)?.[1] ?? text)),
    isLabelled: (text) => toolLabel.test(texts[text] ?? ''),
  };
}

/** Where an earlier run noted it, a note with the label of a tool before others. */
function notedBefore(units: Units, { passages, isLabelled }: KnownNotes) {
  const least = engineConstants.strangerWordFraction;
  const ofTool = passages.firstHolding(units, least, isLabelled);
  if (ofTool !== undefined) return { passage: ofTool, by: 'tool' as const };
  const passage = passages.firstHolding(units, least, () => true);
  return passage && { passage, by: 'known' as const };
}

/** How much of it the user says: in the cited turns together, or in any other; with what the item said before. */
function shareOfUser(
  units: Units,
  { sources, earlierText = '' }: JudgedStatement,
  { seqs, ownUnits }: TurnEvidence,
): number {
  const speeches = [distinctUnits(earlierText), ...sources.map(ownUnits)].map(saidAmong);
  const inCited = shareOf(units, (unit) => speeches.some((isSaid) => isSaid(unit)));
  const inOne = seqs.map((seq) => shareOf(units, saidAmong(ownUnits(seq))));
  return Math.max(inCited, ...inOne);
}

/** Whether the user accepts it where the model proposes it, in about these words. */
const isAccepted = (units: Units, { seqs, acceptedUnits }: TurnEvidence): boolean =>
  seqs.some(
    (seq) => shareOf(units, saidAmong(acceptedUnits(seq))) >= engineConstants.talkWordFraction,
  );

const shareOf = (units: Units, isSaid: (unit: string) => boolean): number =>
  units.size === 0 ? 0 : [...units].filter(isSaid).length / units.size;

/** Words of which one begins with the other are forms of one word from here on: `book` and `booking`. */
const STEM_CHARACTERS_MIN = 4;

const isFormOf = (one: string, other: string): boolean =>
  one.length >= STEM_CHARACTERS_MIN && other.startsWith(one);

/** Whether words are among others, in whatever form. */
function saidAmong(units: Units): (unit: string) => boolean {
  const all = [...units];
  return (unit) =>
    units.has(unit) || all.some((other) => isFormOf(unit, other) || isFormOf(other, unit));
}

/** Share of `words` that one of these turns has, or `known`; no words → 0. */
function shareSaid(
  words: Units,
  seqs: readonly number[],
  { topics, known }: { topics: (seq: number) => Units; known?: Units },
): number {
  const isSaid = (word: string) =>
    known?.has(word) === true || seqs.some((seq) => topics(seq).has(word));
  return words.size === 0 ? 0 : [...words].filter(isSaid).length / words.size;
}

/**
 * Whether a statement that user and model do not make in the cited turns is a tool's: of these, or of another
 * folded turn that a summariser did not name.
 */
function isOfTool(
  words: Units,
  sources: readonly number[],
  { allTopics, talkTopics, seqs }: TurnEvidence,
): boolean {
  const { toolWordFraction, talkWordFraction } = engineConstants;
  const isHeld = (those: readonly number[]): boolean =>
    shareSaid(words, those, { topics: allTopics }) >= toolWordFraction;
  const isTalk = (seq: number): boolean =>
    shareSaid(words, [seq], { topics: talkTopics }) >= talkWordFraction;
  return isHeld(sources) || seqs.some((seq) => isHeld([seq]) && !isTalk(seq));
}

/** Words as they are compared. */
type Units = ReadonlySet<string>;

/** Where words stand close together, and how many of them, 0–1. */
interface Passage {
  /** Number of the text, in their order. */
  text: number;
  share: number;
}

interface Passages {
  /**
   * The first text in which at least `least` of these words stand close together, one of those that `isMeant`.
   * Only texts that hold one of the rarest of them are looked into, so a common word costs nothing.
   */
  firstHolding: (
    words: Units,
    least: number,
    isMeant: (text: number) => boolean,
  ) => Passage | undefined;
}

/** Reads texts once, to be looked through for words that stand close together in them. Linear. */
function toPassages(texts: readonly string[]): Passages {
  const textsWith = indexTexts(texts);
  const linesByText = new Map<number, readonly Units[]>();
  const linesOf = (text: number): readonly Units[] => {
    const known = linesByText.get(text);
    if (known !== undefined) return known;
    const lines = splitSentences(withoutFences(texts[text] ?? '')).map(distinctUnits);
    linesByText.set(text, lines);
    return lines;
  };
  return {
    firstHolding: (words, least, isMeant) => {
      const rare = rarest(words, least, textsWith);
      const holding = new Set(rare.flatMap(textsWith));
      for (const text of [...holding].toSorted((one, other) => one - other)) {
        if (!isMeant(text)) continue;
        const share = largestShare(linesOf(text), words, rare);
        if (share >= least) return { text, share };
      }
      return undefined;
    },
  };
}

/** What would make one line of many, and leave out what stands beside them. */
const fences = /`{3,}|~{3,}/gu;

const withoutFences = (text: string): string => text.replaceAll(fences, ' ');

/** Which texts hold a word: all that do, in order; another one where hashes meet. Their lines are looked at afterwards. */
function indexTexts(texts: readonly string[]): (word: string) => readonly number[] {
  const textsByHash = new Map<number, number[]>();
  for (const [text, written] of texts.entries()) {
    const note = (hash: number): void => {
      const known = textsByHash.get(hash);
      if (known === undefined) textsByHash.set(hash, [text]);
      else if (known.at(-1) !== text) known.push(text);
    };
    if (!hashAsciiWords(written, note))
      for (const unit of unitsIn(withoutFences(written))) note(hashUnit(unit));
  }
  return (word) => textsByHash.get(hashUnit(word)) ?? [];
}

/** The rarest words, one more than may be missing: one of them stands in every passage that holds enough. */
function rarest(
  words: Units,
  least: number,
  textsWith: (word: string) => readonly number[],
): string[] {
  const mayMiss = words.size - Math.ceil(least * words.size);
  return [...words]
    .toSorted((one, other) => textsWith(one).length - textsWith(other).length)
    .slice(0, mayMiss + 1);
}

/** Lines that words may be spread over: a mail breaks its sentences. */
const PASSAGE_LINES = 6;

/** Words that a passage may have, those that are looked for among them. */
const lengthFor = (words: Units): number => 2 * words.size + 6;

/** The largest share of `words` in a passage of these lines, of those that begin near one of the `rare` words. */
function largestShare(lines: readonly Units[], words: Units, rare: readonly string[]): number {
  let largest = 0;
  for (const [place, units] of lines.entries()) {
    if (!rare.some((word) => units.has(word))) continue;
    for (let from = Math.max(0, place - PASSAGE_LINES + 1); from <= place; from += 1)
      largest = Math.max(largest, shareFrom(lines, from, words));
  }
  return largest;
}

/** Share of `words` in the lines from `first` on, as far as they are one passage. */
function shareFrom(lines: readonly Units[], first: number, words: Units): number {
  const held = new Set<string>();
  let room = lengthFor(words);
  for (const units of lines.slice(first, first + PASSAGE_LINES)) {
    room -= units.size;
    if (room < 0 && units !== lines[first]) break;
    for (const word of words) if (units.has(word)) held.add(word);
  }
  return held.size / words.size;
}
