import type { Random } from '../chaos/random.ts';

/** Spellings of a drawn value that count as the same; the first is the one that the user writes. */
export type Spellings = string[];

const starts = ['Bral', 'Kel', 'Tov', 'Maren', 'Ostr', 'Vil', 'Quen', 'Dars', 'Hest', 'Lund'];
const ends = ['rick', 'dane', 'mira', 'wick', 'sol', 'bert', 'anne', 'gard', 'lith', 'ova'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const adjectives = ['slow', 'warm', 'crooked', 'quiet', 'salty', 'golden', 'patient', 'narrow'];
const things = ['feet', 'bread', 'lanterns', 'rivers', 'buttons', 'geese', 'ladders', 'plums'];
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ'.split('');

const pad = (value: number): string => String(value).padStart(2, '0');
const name = (random: Random): string => `${random.pick(starts)}${random.pick(ends)}`;
const word = (random: Random): string => name(random).toLowerCase();
/** Not round, so that nobody rounds it. */
const count = (random: Random, from: number, to: number): string =>
  String(10 * random.integer(from / 10, to / 10 - 1) + random.integer(1, 9));

function date(random: Random): Spellings {
  const [day, index, year] = [
    random.integer(13, 28),
    random.integer(0, 11),
    random.integer(31, 39),
  ];
  const long = months[index] ?? '';
  const short = long.slice(0, 3);
  const [dd, mm, yyyy] = [pad(day), pad(index + 1), `20${year}`];
  const ordinal = `${day}${({ 21: 'st', 22: 'nd', 23: 'rd' } as Record<number, string>)[day] ?? 'th'}`;
  const days = [String(day), ordinal].flatMap((each) =>
    [long, short, `${short}.`, ...(short === 'Sep' ? ['Sept', 'Sept.'] : [])].flatMap((month) => [
      `${each} ${month} ${yyyy}`,
      `${each} of ${month} ${yyyy}`,
      `${each} ${month}, ${yyyy}`,
      `${month} ${each}, ${yyyy}`,
      `${month} ${each} ${yyyy}`,
    ]),
  );
  const figures = [`${yyyy}-${mm}-${dd}`, `${dd}.${mm}.${yyyy}`, `${day}.${index + 1}.${yyyy}`];
  const slashes = [`${mm}/${dd}/${yyyy}`, `${dd}/${mm}/${yyyy}`, `${index + 1}/${day}/${yyyy}`];
  return [...days, ...figures, ...slashes, `${day}/${index + 1}/${yyyy}`];
}

function time(random: Random): Spellings {
  const [hour, minute] = [random.integer(6, 21), 10 * random.integer(1, 5) + random.integer(1, 9)];
  const twelve = hour > 12 ? hour - 12 : hour;
  const half = hour < 12 ? ['am', 'a.m.', 'a.m'] : ['pm', 'p.m.', 'p.m'];
  const halves = half.flatMap((each) => [
    `${twelve}:${minute} ${each}`,
    `${twelve}.${minute} ${each}`,
  ]);
  return [
    `${hour}:${minute}`,
    `${pad(hour)}:${minute}`,
    `${hour}.${minute}`,
    `${hour}h${minute}`,
    ...halves,
  ];
}

function money(random: Random): Spellings {
  const amount = count(random, 1_000, 9_000);
  const written = `$${amount.slice(0, 1)},${amount.slice(1)}`;
  const plain = [`$${amount}`, `$${amount}.00`, `$ ${amount}`, `${amount} dollars`, `${amount} $`];
  return [written, ...plain, `${amount} usd`, `usd ${amount}`, `us$${amount}`];
}

function code(random: Random): Spellings {
  const parts = [
    `${random.pick(letters)}${random.pick(letters)}`,
    `${random.integer(2, 9)}${random.pick(letters)}${count(random, 10, 90)}`,
    `${random.pick(letters)}${random.pick(letters)}`,
  ];
  return ['-', ' ', ''].map((separator) => parts.join(separator));
}

const domain = (random: Random): string => `${word(random)}${word(random)}.example`;

function url(random: Random): Spellings {
  const address = `${domain(random)}/${word(random)}/${count(random, 1_000, 9_000)}`;
  return [`https://${address}`, address];
}

/** What a template can name. */
export const draws: Readonly<Record<string, (random: Random) => Spellings>> = {
  n: (random) => [count(random, 110, 990)],
  old: (random) => [count(random, 110, 990)],
  money,
  date,
  time,
  email: (random) => [`${word(random)}.${word(random)}@${domain(random)}`],
  url,
  code,
  person: (random) => [`${name(random)} ${name(random)}`],
  place: (random) => [`${name(random)} ${random.pick(['Quay', 'Hollow', 'Mills', 'Heath'])}`],
  phrase: (random) => [
    `${random.pick(adjectives)} ${random.pick(things)}, ${random.pick(adjectives)} ${random.pick(things)}, ${count(random, 20, 90)} steps`,
  ],
  path: (random) => [`/home/${word(random)}/${word(random)}-${count(random, 1_000, 9_000)}.ods`],
};
