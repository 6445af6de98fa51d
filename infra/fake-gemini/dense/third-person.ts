import { conjugate } from './english-verbs.ts';
import type { Language } from './language.ts';

/** Who says a statement and to whom, as items call them. */
interface Voice {
  speaker: string;
  hearer: string;
  /** Whether the speaker is `they` where somebody else comes first in a sentence, else the name is said again. */
  isPronoun: boolean;
}

const participle = /^(?:been|had|never|always|already|done|gone|seen|heard|got|\p{L}+ed)\b/u;

/** `’m going`, `’d love`: the short forms behind a pronoun in full, for one other person. */
function lengthen(short: string, rest: string): string {
  switch (short.slice(1).toLowerCase()) {
    case 'm':
    case 're':
      return `is ${rest}`;
    case 've':
      return `has ${rest}`;
    case 'll':
      return `will ${rest}`;
    default:
      return participle.test(rest) ? `had ${rest}` : `would ${rest}`;
  }
}

const predicate = (short: string | undefined, rest: string): string =>
  short === undefined ? conjugate(rest) : lengthen(short, rest);

const head =
  /^(?:(?:and|but|so|well|also|plus|anyway|honestly|because),? )*(?:I|we)(['’](?:m|re|ve|d|ll))? (.+)$/isu;
const joined =
  /(,? (?:and|but|or|then)(?: then)?) (?:I|we)(['’](?:m|re|ve|d|ll))? ((?:\p{L}+ly )?[\p{L}'’]+)/gu;
const mine = /\b(?:I|(we))(['’](?:m|re|ve|d|ll))? ((?:\p{L}+ly )?[\p{L}'’]+)/giu;
const yours = /\byou(['’](?:re|ve|d|ll)| (?:are|were|have|do|don['’]t)(?= ))/giu;

const pronouns = ({
  speaker,
  hearer,
  isPronoun,
}: Voice): readonly (readonly [RegExp, string])[] => [
  [/\bmy own\b/giu, 'own'],
  [/\b(?:my|our)\b/giu, 'their'],
  [/\b(?:mine|ours)\b/giu, 'theirs'],
  [/\bmyself\b/giu, 'themself'],
  [/\bourselves\b/giu, 'themselves'],
  [/\bme\b/giu, isPronoun ? 'them' : speaker],
  [/\bus\b/gu, 'them'],
  [/\bI\b/gu, isPronoun ? 'they' : speaker],
  [/\bwe\b/giu, 'they'],
  [/\byours?\b/giu, `${hearer}’s`],
  [/\byourself\b/giu, 'themself'],
  [/\byourselves\b/giu, 'themselves'],
  [/\byou\b/giu, hearer],
];

/** `I’m` → `they’re`, `I was` → `they were`. */
const asThey = (short: string, rest: string): string =>
  `they${short.replace(/m$/u, 're')} ${rest.replace(/^am\b/u, 'are').replace(/^was\b/u, 'were')}`;

function english(text: string, voice: Voice): string {
  const found = head.exec(text);
  const said = found === null ? text : predicate(found[1], found[2] ?? '');
  const spoken = said
    .replace(
      joined,
      (...[, link = '', short, rest = '']: string[]) => `${link} ${predicate(short, rest)}`,
    )
    .replace(mine, (...[, we, short, rest = '']: string[]) =>
      voice.isPronoun || we !== undefined
        ? asThey(short ?? '', rest)
        : `${voice.speaker} ${predicate(short, rest)}`,
    )
    .replace(yours, (_, rest: string) =>
      rest.startsWith(' ')
        ? `${voice.hearer} ${conjugate(rest.trim())}`
        : `${voice.hearer} ${lengthen(rest, '').trim()}`,
    );
  return pronouns(voice).reduce((told, [word, instead]) => told.replace(word, instead), spoken);
}

const germanForms = new Map(
  `bin ist|habe hat|werde wird|gebe gibt|nehme nimmt|fahre fährt|esse isst|lese liest|sehe sieht|spreche spricht
  |treffe trifft|schlafe schläft|laufe läuft|halte hält|lasse lässt|trage trägt|helfe hilft|vergesse vergisst
  |brauche braucht|wohne wohnt|lebe lebt|heiße heißt|mache macht|gehe geht|komme kommt|suche sucht|plane plant
  |liebe liebt|spiele spielt|kaufe kauft|denke denkt|finde findet|arbeite arbeitet|bleibe bleibt|bezahle bezahlt
  |reise reist|koche kocht|trinke trinkt|freue freut|glaube glaubt|hoffe hofft|bestelle bestellt|buche bucht`
    .split('|')
    .map((pair) => pair.trim().split(' '))
    .map(([first = '', third = '']) => [first, third] as const),
);

const inGerman = (verb: string): string => germanForms.get(verb.toLowerCase()) ?? verb;

/** Verbs that are not listed stay: `wollte` and `kann` are the same for both. */
function german(text: string, { speaker }: Voice): string {
  return text
    .replace(/^(?:Also |Und )?ich (\p{L}+)/iu, (_, verb: string) => inGerman(verb))
    .replace(/\b(\p{L}+) ich\b/giu, (_, verb: string) => `${inGerman(verb)} ${speaker}`)
    .replace(/\bich (\p{L}+)/giu, (_, verb: string) => `${speaker} ${inGerman(verb)}`)
    .replace(
      /\b(?:mein|unser)(e[mnrs]?)?(?= )/giu,
      (_, end: string | undefined) => `sein${end ?? ''}`,
    )
    .replace(/\bm(?:ich|ir)\b/giu, speaker);
}

/** Pronouns of languages whose verbs know no person; at the beginning the speaker stands before them anyway. */
const eastern: Readonly<
  Record<'ja' | 'zh' | 'ko', (voice: Voice) => readonly (readonly [RegExp, string])[]>
> = {
  zh: ({ speaker, hearer }) => [
    [/^(?:那|就)?(?:我们|我)(?!的)/u, ''],
    [/我们/gu, `${speaker}等人`],
    [/(?<!自)我/gu, speaker],
    [/[你您]们?/gu, hearer],
  ],
  ja: ({ speaker }) => [
    [/^(?:私|僕|俺|わたし)(?:たち)?(?:は|も|が)、?/u, ''],
    [/(?:私|僕|わたし)(?!立|語|鉄|服|物|学)/gu, speaker],
  ],
  ko: ({ speaker }) => [
    [/^(?:저는|나는|저도|나도|제가|내가|저희는|우리는|전|난) /u, ''],
    [/(?<![\p{L}])(?:저는|나는|제가|내가)(?![\p{L}])/gu, speaker],
  ],
};

/** What somebody says of himself as others tell it, subject left out where it comes first: `I went` → `went`. */
export function toThirdPerson(text: string, voice: Voice, language: Language): string {
  switch (language) {
    case 'en':
      return english(text, voice);
    case 'de':
      return german(text, voice);
    case 'ja':
    case 'zh':
    case 'ko':
      return eastern[language](voice).reduce(
        (told, [word, instead]) => told.replace(word, instead),
        text,
      );
    case 'other':
      return text;
  }
}
