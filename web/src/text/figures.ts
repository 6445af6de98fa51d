/** Numbers as the language writes them. */
export interface Figures {
  count: (value: number) => string;
  percent: (share: number) => string;
  /** US dollars of millionths. */
  cost: (micros: number) => string;
  duration: (milliseconds: number) => string;
  /** The time; of another day than today’s with its date. */
  moment: (date: Date, now: Date) => string;
  /** Shorter: the time of today, else the date. */
  when: (date: Date, now: Date) => string;
  day: (date: Date) => string;
}

const isSameDay = (one: Date, other: Date): boolean => one.toDateString() === other.toDateString();

export function createFigures(language: string): Figures {
  const number = (options: Intl.NumberFormatOptions) => {
    const format = new Intl.NumberFormat(language, options);
    return (value: number) => format.format(value);
  };
  const date = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(language, options);
    return (value: Date) => format.format(value);
  };
  const unit = (name: 'second' | 'millisecond', maximumFractionDigits: number) =>
    number({ style: 'unit', unit: name, unitDisplay: 'narrow', maximumFractionDigits });
  const cost = number({ style: 'currency', currency: 'USD', maximumSignificantDigits: 2 });
  const seconds = unit('second', 1);
  const milliseconds = unit('millisecond', 0);
  const hours = { hour: '2-digit', minute: '2-digit' } as const;
  const shortDay = { month: 'short', day: 'numeric' } as const;
  const time = date({ ...hours, second: '2-digit' });
  const dayAndTime = date({ ...shortDay, ...hours });
  const timeOfDay = date(hours);
  const dayOfYear = date(shortDay);
  return {
    count: number({}),
    percent: number({ style: 'percent', maximumFractionDigits: 0 }),
    cost: (micros) => cost(micros / 1_000_000),
    duration: (value) => (value < 1_000 ? milliseconds(value) : seconds(value / 1_000)),
    moment: (at, now) => (isSameDay(at, now) ? time : dayAndTime)(at),
    when: (at, now) => (isSameDay(at, now) ? timeOfDay : dayOfYear)(at),
    day: date({ dateStyle: 'medium' }),
  };
}
