import {
  constraintSection,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { constraintSpans } from '#shared/compaction/facts/speech/detect-constraints.ts';
import { requestSpans } from '#shared/compaction/facts/languages/requests.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { isGuiding } from '../operations/guiding-sections.ts';
import { toPassages, type HeldPlace, type Passages } from '../prompt/turn-passages.ts';
import type { Statement } from './statement.ts';
import type { TurnEvidence } from '../prompt/turn-evidence.ts';
import { distinctUnits } from '#shared/text/words.ts';
import { verbatimText } from './verbatim-item.ts';

/** What people and models call whoever they serve, in the languages in which wishes are recognised. */
const nouns = String.raw`(?<![\p{L}\p{N}])(?:users?|nutzer(?:in|s)?|benutzer(?:in|s)?|anwender(?:in)?|utilisateurs?|utilisatrice|usuari[oa]s?|usuári[oa]s?|utilizador(?:a|es)?|utente|utenti)(?![\p{L}\p{N}])|用户|用戶|使用者|ユーザー?|利用者|사용자|이용자`;
/** What he is told to say or to want; or a colon or a mark, behind which he seems to speak. */
const speech = String.raw`["“”„«»「『‘:：]|(?<![\p{L}])(?:sa(?:id|ys?)|told|tells?|ask(?:s|ed)?|want(?:s|ed)?|wish(?:es|ed)?|need(?:s|ed)?|require[sd]?|insist(?:s|ed)?|instruct(?:s|ed)?|order(?:s|ed)?|prefer(?:s|red)?|decide[sd]?|approve[sd]?|agree[sd]?|allow(?:s|ed)?|confirm(?:s|ed)?|sag\p{L}*|gesagt|bat|bitte[tn]?|will|wollte|möchte|wünsch\p{L}*|verlang\p{L}*|forder\p{L}*|entschied\p{L}*|erlaub\p{L}*|dit|demand\p{L}*|veut|voulait|souhait\p{L}*|exig\p{L}*|dijo|dice|dicho|pid[eió]\p{L}*|quiere|quería|dese[ao]\p{L}*|disse|diz|pediu|quer|queria|detto|dice|chie\p{L}+|vuole|voleva|desidera)(?![\p{L}])|说|說|要求|希望|想要?|同意|言|望|求め|欲し|頼|말|원하|원한|요청|부탁|요구`;
const tells = new RegExp(`(?:${nouns})[^.?!。？！\n]{0,40}?(?:${speech})`, 'iu');

/** Whether a statement tells what the user says or wants. */
const claimsAboutUser = (text: string): boolean => tells.test(text.normalize('NFKC'));

const marked = /^"(.*)"$/su;

/** A statement with whose words it is; in one pair of marks. */
export const asToldByTool = (text: string): string =>
  verbatimText({ speaker: 'tool', text: marked.exec(text)?.[1] ?? text });

const toolLabel = /^Tool: "(.*)"$/su;
const isToldByTool = (text: string): boolean => toolLabel.test(text);
const withoutToolLabel = (text: string): string => toolLabel.exec(text)?.[1] ?? text;

/** Whose words a statement has: `tool`, or `known`: only of what an earlier run noted of them. */
type Stranger = 'tool' | 'known';

/** A statement that is looked into, and what its item said before. */
interface Looked {
  said: Pick<Statement, 'text' | 'sources'>;
  earlierText?: string;
}

/** A clause of fewer words tells nothing alone. */
const CLAUSE_UNITS = 3;
/** A whole statement does. */
const STATEMENT_UNITS = 1;

/** Behind the end of a clause: of a sentence, a point of a list, words that announce others. */
const clauseBorder = /(?<=[;；。！？：]|[:.!?]["'”’»)*_]{0,3}\s|\s[-–—•*]\s)/u;

/** Sections of what the user wants and what is to be done: no tool speaks there, nor did one in earlier runs. */
const wantingSections: ReadonlySet<string> = new Set([
  'overall_goal',
  'task_state',
  'user_profile',
  'decisions',
  'open_questions',
  constraintSection,
]);

/** What earlier runs noted of what was read or done. */
export interface Noted {
  passages: Passages;
  /** Whether a text of `passages` has the label of a tool. */
  isOfTool: (text: number) => boolean;
}

/** The notes of both layers. */
export function notedIn({ sections, archive }: Snapshot): Noted {
  const working = Object.entries(sections).flatMap(([section, items]) =>
    items.map((item): ArchivedItem => ({ ...item, section })),
  );
  const noted = [...working, ...archive].filter(({ section }) => !wantingSections.has(section));
  const texts = noted.map(({ text }) => text);
  return {
    passages: toPassages(texts.map(withoutToolLabel)),
    isOfTool: (text) => isToldByTool(texts[text] ?? ''),
  };
}

interface Evidence {
  evidence: TurnEvidence;
  noted: () => Noted;
}

const shareOf = (units: ReadonlySet<string>, isSaid: (unit: string) => boolean): number =>
  units.size === 0 ? 0 : [...units].filter(isSaid).length / units.size;

/** Words of which one begins with the other are forms of one word from here on: `book` and `booking`. */
const STEM_CHARACTERS_MIN = 4;

const isFormOf = (one: string, other: string): boolean =>
  one.length >= STEM_CHARACTERS_MIN && other.startsWith(one);

/** Whether words are among others, in whatever form. */
function saidAmong(units: ReadonlySet<string>): (unit: string) => boolean {
  const all = [...units];
  return (unit) =>
    units.has(unit) || all.some((other) => isFormOf(unit, other) || isFormOf(other, unit));
}

/** How much of it the user says: in the cited turns together, or in any other; with what the item said before. */
function shareOfUser(
  units: ReadonlySet<string>,
  { said: { sources }, earlierText = '' }: Looked,
  { seqs, ownUnits }: TurnEvidence,
): number {
  const said = [distinctUnits(earlierText), ...sources.map(ownUnits)].map(saidAmong);
  const inCited = shareOf(units, (unit) => said.some((isSaid) => isSaid(unit)));
  const inOne = seqs.map((seq) => shareOf(units, saidAmong(ownUnits(seq))));
  return Math.max(inCited, ...inOne);
}

/** Whether the user accepts it where the model proposes it, in about these words. */
const isAccepted = (units: ReadonlySet<string>, { seqs, acceptedUnits }: TurnEvidence): boolean =>
  seqs.some(
    (seq) =>
      shareOf(units, saidAmong(acceptedUnits(seq))) >= ledgerConstants.talkWordFraction.value,
  );

/** Where a tool says it before the model does: what the model says first is its own, also where a tool repeats it. */
function saidByTool(units: ReadonlySet<string>, evidence: TurnEvidence): HeldPlace | undefined {
  const { passages, isOfModel } = evidence.others();
  const least = ledgerConstants.strangerWordFraction.value;
  const held = passages.firstHolding(units, least, (text) => !isOfModel(text));
  if (held === undefined) return undefined;
  const isRepeated =
    passages.firstHolding(units, held.share, (text) => isOfModel(text) && text < held.text) !==
    undefined;
  return isRepeated ? undefined : held;
}

/** Where an earlier run noted it: as a tool's first. */
function notedBefore(units: ReadonlySet<string>, { passages, isOfTool }: Noted) {
  const least = ledgerConstants.strangerWordFraction.value;
  const ofTool = passages.firstHolding(units, least, isOfTool);
  if (ofTool !== undefined) return { held: ofTool, by: 'tool' as const };
  const held = passages.firstHolding(units, least, () => true);
  return held && { held, by: 'known' as const };
}

function strangerIn(
  units: ReadonlySet<string>,
  looked: Looked,
  { evidence, noted }: Evidence,
): Stranger | undefined {
  const tool = saidByTool(units, evidence);
  const found = tool ? { held: tool, by: 'tool' as const } : notedBefore(units, noted());
  if (found === undefined) return undefined;
  const isWanted =
    shareOfUser(units, looked, evidence) >= found.held.share || isAccepted(units, evidence);
  return isWanted ? undefined : found.by;
}

/** A statement by whose words it has. */
interface Parted {
  /** What is left of it without the clauses of strangers; '' where nothing is. */
  own: string;
  strangers: { text: string; by: Stranger }[];
}

/** What of a statement is looked into. */
interface Scope {
  whole: (text: string) => boolean;
  clause: (text: string) => boolean;
  by: ReadonlySet<Stranger>;
}

const anyText = (): boolean => true;
const anybody: ReadonlySet<Stranger> = new Set(['tool', 'known']);

/** Whether a clause tells somebody what to do, always or once. */
const instructs = (clause: string): boolean =>
  constraintSpans(clause).length > 0 || requestSpans(clause).length > 0;

/**
 * Where a section tells what to do next, every clause. Where it tells what the user wants, statements and what in them
 * instructs: facts of a tool may stand among his. Elsewhere what is told of the user, so that no tool speaks for him.
 */
function scopeOf(section: string): Scope {
  if (isGuiding(section)) return { whole: anyText, clause: anyText, by: anybody };
  return wantingSections.has(section)
    ? { whole: anyText, clause: instructs, by: anybody }
    : { whole: claimsAboutUser, clause: claimsAboutUser, by: new Set(['tool']) };
}

/** Whose a statement is of which most is strangers': a page that was copied, of which only headings are left. */
function strangerOfMost(
  clauses: readonly { clause: string; by: Stranger | undefined }[],
): Stranger | undefined {
  const weigh = (those: readonly { clause: string }[]): number =>
    those.reduce((sum, { clause }) => sum + distinctUnits(clause).size, 0);
  const strange = clauses.filter(({ by }) => by !== undefined);
  const isMost = weigh(strange) >= ledgerConstants.strangerClauseFraction.value * weigh(clauses);
  return isMost ? strange[0]?.by : undefined;
}

/**
 * Parts what shall stand in a section into what may be the will of the user or a step of the model, and what stands in
 * the words of a tool, of a file, or of what an earlier run noted of them. Repeating makes nobody's words one's own:
 * only what the user says himself, or accepts of the model's own proposals, is his. Where most words of a clause stand
 * close together in such a text, and the user has not said as many of them, the clause is a stranger's.
 */
export function partStrangers(section: string, looked: Looked, evidence: Evidence): Parted {
  const { text } = looked.said;
  const { whole, clause: mayPart, by } = scopeOf(section);
  const strangerOf = (words: string, least: number): Stranger | undefined => {
    const units = distinctUnits(words);
    const stranger = units.size < least ? undefined : strangerIn(units, looked, evidence);
    return stranger !== undefined && by.has(stranger) ? stranger : undefined;
  };
  const ofAll = whole(text) ? strangerOf(text, STATEMENT_UNITS) : undefined;
  if (ofAll !== undefined) return { own: '', strangers: [{ text, by: ofAll }] };
  const clauses = text.split(clauseBorder).map((clause) => ({
    clause,
    by: whole(text) || mayPart(clause) ? strangerOf(clause, CLAUSE_UNITS) : undefined,
  }));
  const mostly = whole(text) ? strangerOfMost(clauses) : undefined;
  if (mostly !== undefined) return { own: '', strangers: [{ text, by: mostly }] };
  const parted = clauses.filter((one) => one.by !== undefined && mayPart(one.clause));
  const strangers = parted.flatMap((one) =>
    one.by === undefined ? [] : [{ text: one.clause.trim(), by: one.by }],
  );
  if (strangers.length === 0) return { own: text, strangers: [] };
  const own = clauses.filter((one) => !parted.includes(one)).map(({ clause }) => clause);
  return { own: own.join('').trim(), strangers };
}
