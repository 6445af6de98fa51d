const LOCAL = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/;

/** Hosts of Google's, without what names the project in them. */
const GOOGLE_HOSTS: readonly [RegExp, string][] = [
  [/^[\w.-]+\.googleapis\.com$/, '$&'],
  // The service, the project's number and the region.
  [/^(.+)-\d+\.([a-z0-9-]+)\.run\.app$/, '$1-[project].$2.run.app'],
  [/^(.+)-[a-z0-9]{10}-([a-z]+)\.a\.run\.app$/, '$1-[hash]-$2.a.run.app'],
  [/^([a-z]+-[a-z]+\d+)-.+\.cloudfunctions\.net$/, '$1-[project].cloudfunctions.net'],
  [/^.+\.(web\.app|firebaseapp\.com)$/, '[project].$1'],
];

function maskHost(host: string): string {
  if (LOCAL.test(host)) return host;
  const known = GOOGLE_HOSTS.find(([pattern]) => pattern.test(host));
  return known === undefined ? '[host]' : host.replace(...known);
}

/** By their form, wherever they stand: an answer may quote what was sent, and Google's errors name projects. */
const TELLING: readonly [RegExp, string][] = [
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/\b(Bearer|Basic) [^\s"',]+/gi, '$1 [token]'],
  [/\b(ENOTFOUND|EAI_AGAIN) [^\s"',]+/g, '$1 [host]'],
  [/\bgs:\/\/[^\s"'`/]+/g, 'gs://[bucket]'],
  [/[\w.-]+\.appspot\.com\b/g, '[project].appspot.com'],
  [/\bya29\.[\w.-]+/g, '[token]'],
  [/\bAIza[\w-]{30,}/g, '[key]'],
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[e-mail]'],
  [/\b(projects?[/=])[\w:.-]+/g, '$1[project]'],
  [/\b(project) \d{6,}/gi, '$1 [project]'],
  [/\b(in project) [\w:.-]+/g, '$1 [project]'],
];

/** A text without secrets, e-mails, ids of projects and hosts that are somebody's own. `secrets` are taken out by value. */
export function maskText(text: string, secrets: readonly string[]): string {
  let masked = text;
  for (const secret of secrets) masked = masked.replaceAll(secret, '[secret]');
  masked = masked.replaceAll(
    /\b(https?:\/\/)([^\s/"'`|),;]+)/gi,
    (_, scheme: string, host: string) => `${scheme}${maskHost(host.toLowerCase())}`,
  );
  for (const [pattern, replacement] of TELLING) masked = masked.replaceAll(pattern, replacement);
  return masked;
}
