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

export function createFigures(language: string): Figures {
  const count = new Intl.NumberFormat(language);
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 });
  const cost = new Intl.NumberFormat(language, {
    style: 'currency',
    currency: 'USD',
    maximumSignificantDigits: 2,
  });
  const seconds = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'second',
    unitDisplay: 'narrow',
    maximumFractionDigits: 1,
  });
  const milliseconds = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'millisecond',
    unitDisplay: 'narrow',
    maximumFractionDigits: 0,
  });
  const time = new Intl.DateTimeFormat(language, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const dayAndTime = new Intl.DateTimeFormat(language, {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  });
  const hours = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' });
  const shortDay = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric' });
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
  return {
    count: (value) => count.format(value),
    percent: (share) => percent.format(share),
    cost: (micros) => cost.format(micros / 1_000_000),
    duration: (value) =>
      value < 1_000 ? milliseconds.format(value) : seconds.format(value / 1_000),
    moment: (date, now) =>
      date.toDateString() === now.toDateString() ? time.format(date) : dayAndTime.format(date),
    when: (date, now) =>
      date.toDateString() === now.toDateString() ? hours.format(date) : shortDay.format(date),
    day: (date) => day.format(date),
  };
}
