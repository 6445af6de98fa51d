/** Names of the months in en, de, fr, es, pt, it; short forms included. */
const namesByMonth: readonly string[] = [
  'january jan januar jänner janvier janv enero ene janeiro gennaio gen',
  'february feb februar février févr fevrier febrero fevereiro fev febbraio',
  'march mar märz mrz mars marzo março marco',
  'april apr avril avr abril abr aprile',
  'may mai mayo maio maggio mag',
  'june jun juni juin junio junho giugno giu',
  'july jul juli juillet juil julio julho luglio lug',
  'august aug août aout agosto ago',
  'september sep sept septembre septiembre setiembre setembro settembre set',
  'october oct oktober okt octobre octubre outubro out ottobre ott',
  'november nov novembre noviembre novembro',
  'december dec dezember dez décembre decembre diciembre dic dezembro dicembre',
];

const monthByName: ReadonlyMap<string, number> = new Map(
  namesByMonth.flatMap((names, at) =>
    names.split(' ').map((name): [string, number] => [name, at + 1]),
  ),
);

/** The month, from 1, that a name in any of the languages stands for. */
export const monthNumber = (name: string): number | undefined =>
  monthByName.get(name.toLowerCase().replace(/\.$/, ''));

/** Source of an expression that finds a month's name, the longest first. */
export const monthNames = [...monthByName.keys()].toSorted((a, b) => b.length - a.length).join('|');
