import { type Candidate, ledgerSection } from '../summaries/ledger-lines.ts';
import { weighFacts, weighWords } from '../answers/facts.ts';
import { isQuestion } from '../answers/question-terms.ts';
import { chance } from '../server/misbehaviour.ts';
import { fewerWords, withoutOpeners } from './fewer-words.ts';
import { detectLanguage, type Language, writings } from './language.ts';
import { resolveDates } from './resolve-dates.ts';
import { convertUnit, figuresForWords, joinRanges } from './rewrite-figures.ts';
import { type SaidAt, withoutName } from './said-at.ts';
import { cutStatement, elideCode, joinLinks } from './shorten.ts';
import { toThirdPerson } from './third-person.ts';

/** What nobody may reword: quoted words, code, links, addresses, paths and identifiers. */
const fixed =
  /`[^`]+`|"[^"]+"|“[^”]+”|「[^」]+」|『[^』]+』|《[^》]+》|https?:\/\/[^\s<>"）)]+|[\w.+-]+@[\w-]+\.[\w.-]+|(?<![\w/])(?:~|\.{1,2})?\/?(?:[\w.-]+\/)+[\w.-]+|\b\w*_\w+\b|\b[A-Z]+-?\d[\w-]*/gu;

const opening = '\uE000';
const closing = '\uE001';
const held = /\uE000(\d+)\uE001/gu;

/** `rewrite` on a text whose quotes, code, links, paths and identifiers stand there as marks that it leaves alone. */
export function outsideQuotes(text: string, rewrite: (text: string) => string): string {
  const kept: string[] = [];
  const masked = text.replace(fixed, (found) => `${opening}${kept.push(found) - 1}${closing}`);
  return rewrite(masked).replace(held, (_, index: string) => kept[Number(index)] ?? '');
}

/** One statement in as few words as a capable model needs; items are made of several. */
export interface Clause extends Candidate {
  /** Who says it, as the item calls him: `Ann`, `User`. Absent: it stays an item of its own. */
  label?: string;
}

/** What is the same for all statements of an answer. */
export interface Rewording {
  seed: string;
  saidAt: ReadonlyMap<string, SaidAt>;
  /** That of the conversation, in which items name who speaks. */
  language: Language;
  /** Figures stay as they were said, and what is looked for can be found. */
  keepsFigures: boolean;
}

const longestClause = 260;
const longestOutput = 250;
const longestCall = 140;
const figureShare = 0.4;
const unitShare = 0.3;
const linkShare = 0.7;
const pronounShare = 0.6;

const markup = /\*\*|^#+ |^\d+\. (?=\S)/gu;
const called = /^called \w/u;
const addressed = /,? \p{Lu}\p{Ll}+!+$/u;

interface Names {
  label: string;
  hearer: string;
}

function namesFor(candidate: Candidate, { saidAt, language }: Rewording): Names {
  const { name, hearer } = saidAt.get(candidate.text) ?? {};
  const writing = writings[language];
  const speaker = candidate.saidBy === 'snapshot' ? 'user' : candidate.saidBy;
  const other = speaker === 'user' ? 'model' : 'user';
  return { label: name ?? writing[speaker], hearer: hearer ?? writing[other] };
}

function reworded(candidate: Candidate, names: Names, rewording: Rewording): string {
  const { seed, saidAt, keepsFigures } = rewording;
  const { day, name } = saidAt.get(candidate.text) ?? {};
  const said = withoutName(candidate.text, name).replace(markup, '').replace(addressed, '');
  const language = detectLanguage(said);
  const draws = (trait: string, share: number): boolean =>
    !keepsFigures && chance(seed, trait, candidate.text) < share;
  const isNamed = name !== undefined;
  const voice = {
    speaker: isNamed ? names.label : names.label.toLowerCase(),
    hearer: isNamed ? names.hearer : names.hearer.toLowerCase(),
    isPronoun: chance(seed, 'pronoun', candidate.text) < pronounShare,
  };
  return outsideQuotes(withoutOpeners(said, language), (text) => {
    const dated = day === undefined ? text : resolveDates(text, day, language);
    const told = toThirdPerson(dated, voice, language);
    const figures = draws('figures', figureShare) ? figuresForWords(told) : told;
    const ranged = keepsFigures ? figures : joinRanges(figures, language);
    const converted = draws('unit', unitShare) ? convertUnit(ranged) : ranged;
    return fewerWords(converted, language);
  });
}

const smallTalk =
  /^(?:glad|great|wish|happy|can['’]t|wow|love (?:that|this|the)|it['’]s (?:so |really )?(?:great|awesome|amazing)|that['’]?s|sounds|looks)\b|\byou(?:['’]re| are| both|r)\b/iu;
const smallTalkWorth = 0.3;
const code = /[;{}>]$|^[<}]|\w\(.*\)|\w+ = /u;
const codeWorth = 0.2;
const namedWorth = 1.5;

/** Kind words and code say little; two people with names say as much as each other, whoever has the part of the model. */
function weigh(candidate: Candidate, text: string, isNamed: boolean): number {
  const facts = Math.max(candidate.facts, weighFacts(text) + weighWords(text));
  const worth = smallTalk.test(candidate.text) && !/\d/.test(text) ? smallTalkWorth : 1;
  if (code.test(text)) return facts * codeWorth;
  return facts * worth * (isNamed && candidate.saidBy === 'model' ? namedWorth : 1);
}

const saysSomething = (text: string): boolean =>
  /\p{L}/u.test(text) &&
  (/\d/.test(text) || text.length > 24 || (/[^\x20-\x7f]/u.test(text) && text.length > 5));

/** What a model elides: the inside of a file that was written, line ends told as `\\n`. */
const isFileText = ({ text }: Candidate): boolean =>
  !called.test(text) && text.split('\\n').length > 2;

/** Of a tool's output or a call, the words as they are. */
const isOutput = ({ saidBy, text }: Candidate): boolean => saidBy === 'tool' || called.test(text);

function mostCharacters(candidate: Candidate): number {
  if (called.test(candidate.text)) return longestCall;
  return isOutput(candidate) ? longestOutput : longestClause;
}

/** A statement as a dense clause; none where it says nothing beside its greeting. */
export function clausesIn(candidate: Candidate, rewording: Rewording): Clause[] {
  if (isFileText(candidate)) return [];
  const { seq, name } = rewording.saidAt.get(candidate.text) ?? {};
  const said = withoutName(candidate.text, name);
  if (isQuestion(withoutOpeners(said, detectLanguage(said)))) return [];
  const names = namesFor(candidate, rewording);
  const words = isOutput(candidate) ? candidate.text : reworded(candidate, names, rewording);
  const joined =
    chance(rewording.seed, 'link', candidate.text) < linkShare ? joinLinks(words) : words;
  const text = cutStatement(elideCode(joined), mostCharacters(candidate));
  if (!saysSomething(text)) return [];
  const sources = seq === undefined ? candidate.sources : [seq];
  const facts = weigh(candidate, text, name !== undefined);
  const section = ledgerSection(candidate);
  return [{ ...candidate, text, sources, facts, section, label: names.label }];
}

/** A statement that stays one by itself, as a sentence with its subject: `User wants to find a flat`. */
export function wholeSentence(candidate: Candidate, rewording: Rewording): Candidate {
  const { label } = namesFor(candidate, rewording);
  const text = clausesIn(candidate, rewording)[0]?.text;
  if (text === undefined) return candidate;
  const { colon } = writings[rewording.language];
  const isPredicate = /^(?:(?:I|we)\b|ich\b)/iu.test(candidate.text) && /^\p{Ll}/u.test(text);
  return { ...candidate, text: isPredicate ? `${label} ${text}` : `${label}${colon}${text}` };
}
