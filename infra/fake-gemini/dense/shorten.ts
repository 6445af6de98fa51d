const origin = /https?:\/\/[\w.-]+(?::\d+)?\/?(?=[\s,;.)]|$)/gu;
const route = /(?<![\w/.:}])\/[\w-]+(?:\/[\w.{}:-]+)*(?=[\s,;.)]|$)/gu;

/** The one route of a text joined to its one server: `https://a.example`, `/v1/users` → `https://a.example/v1/users`. */
export function joinLinks(text: string): string {
  const [server, ...otherServers] = text.match(origin) ?? [];
  const [path, ...otherPaths] = text.match(route) ?? [];
  if (server === undefined || path === undefined) return text;
  if (otherServers.length > 0 || otherPaths.length > 0) return text;
  const base = server.replace(/[/.]$/u, '');
  return text.replace(path, () => base + path.replace(/\.$/u, ''));
}

const code = /`([^`]{41,})`/gu;
const shownCode = { start: 24, end: 12 };

/** Long code with its middle left out: `const …return total`. */
export const elideCode = (text: string): string =>
  text.replace(
    code,
    (_, said: string) => `\`${said.slice(0, shownCode.start)}…${said.slice(-shownCode.end)}\``,
  );

/** What a cut must not leave at the end: a figure whose unit is gone, half a character. */
const loose = /[\s\d.,:–-]*\d[^\s，、]*$|[\uD800-\uDBFF]$/u;

/** The beginning of a text of at most `most` characters, up to a comma or blank where one is near; no figure without unit. */
export function cutStatement(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most - 1);
  const comma = Math.max(start.lastIndexOf(', '), start.lastIndexOf('，'), start.lastIndexOf('、'));
  const end = comma > most / 2 ? comma : start.lastIndexOf(' ');
  const cut = end > most / 2 ? start.slice(0, end) : start;
  return `${cut.replace(loose, '')}…`;
}
