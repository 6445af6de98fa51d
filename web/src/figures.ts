/* Numbers and times as the page writes them. */

const number = (options: Intl.NumberFormatOptions) => {
  const format = new Intl.NumberFormat('en', options);
  return (value: number): string => format.format(value);
};
const date = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en', options);
  return (value: Date): string => format.format(value);
};

export const count = number({});
/** `1 turn`, `2,000 turns`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${value === 1 ? noun : `${noun}s`}`;

export const percent = number({ style: 'percent', maximumFractionDigits: 0 });

const dollars = number({ style: 'currency', currency: 'USD', maximumSignificantDigits: 2 });

/** US dollars of millionths. */
export const cost = (micros: number): string => dollars(micros / 1_000_000);

const seconds = number({ maximumFractionDigits: 1 });

export const duration = (ms: number): string => `${seconds(ms / 1_000)} s`;

const time = date({ hour: '2-digit', minute: '2-digit' });
const shortDay = date({ month: 'short', day: 'numeric' });

/** The time of today, else the date. */
export function when(at: Date, now = new Date()): string {
  return at.toDateString() === now.toDateString() ? time(at) : shortDay(at);
}

export const dayAndTime = date({ dateStyle: 'medium', timeStyle: 'medium' });

/** What the service calls something, for people: `key_knowledge` is `Key knowledge`. */
export function inWords(key: string): string {
  const words = key.toLowerCase().replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
