import * as firestore from '@google-cloud/firestore';
import * as pubsub from '@google-cloud/pubsub';
import * as genai from '@google/genai';
import * as auth from 'google-auth-library';
import { filesBelow, matches, textOf, unique } from '../texts.ts';

/** A place in the code of the functions from which Google may be called. */
interface FoundCall {
  file: string;
  /** A library's method by its name, or a request as `function METHOD address`, or what is imported to send with. */
  call: string;
}

/** Names of the functions that a value has, or has from its classes; not those that every object has. */
function functionsOn(value: object): string[] {
  const names: string[] = [];
  for (let one = value; one !== Object.prototype; one = Object.getPrototypeOf(one) as object)
    for (const [name, { value: held }] of Object.entries(Object.getOwnPropertyDescriptors(one)))
      if (typeof held === 'function' && !(name in Object.prototype)) names.push(name);
  return names;
}

/** Names of the methods of all classes that a library exports. */
const classMethods = (library: object) =>
  Object.values(library).flatMap((one: unknown) =>
    typeof one === 'function' && typeof one.prototype === 'object' && one.prototype !== null
      ? functionsOn(one.prototype as object)
      : [],
  );

/** Its methods are properties of instances. */
const genaiMethods = () =>
  Object.values(new genai.GoogleGenAI({ apiKey: 'none' })).flatMap((one: unknown) =>
    typeof one === 'object' && one !== null ? functionsOn(one) : [],
  );

/** Libraries of Google that the functions may use, with the names that they give their methods. */
const libraries: Readonly<Record<string, ReadonlySet<string>>> = {
  '@google-cloud/firestore': new Set(classMethods(firestore)),
  '@google-cloud/pubsub': new Set(classMethods(pubsub)),
  '@google/genai': new Set(genaiMethods()),
  'google-auth-library': new Set(classMethods(auth)),
};

const withoutComments = (text: string) =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');

const importedBy = (text: string) =>
  unique(matches(text, /(?:from|import|import\(|require\()\s*'([^']+)'/g));

/** Methods that a file calls, or binds, by a name that a library which it imports gives one. */
function libraryCalls(code: string, imported: readonly string[]): string[] {
  const known = new Set(imported.flatMap((library) => [...(libraries[library] ?? [])]));
  return matches(code, /\.(\w+)(?=\??\.?\(|\.(?:bind|call|apply)\()/g).filter((name) =>
    known.has(name),
  );
}

/** What can send, and is imported: libraries of Google that are not known here, and Node's own. */
function importedSenders(code: string): string[] {
  const google = importedBy(code).filter(
    (library) =>
      /^(?:@google|@firebase|@grpc|google|firebase|gaxios|undici)/.test(library) &&
      !(library in libraries),
  );
  const node = matches(
    code,
    /^import (?!type)([^;]*?) from '(?:node:)?(?:https?|http2|net|tls)'/gm,
  ).flatMap((names) =>
    names.split(',').map((name) => name.replaceAll(/[{}]|\bas \w+/g, '').trim()),
  );
  return [...google, ...node.filter((name) => !/^type |^$/.test(name))].map(
    (name) => `import ${name}`,
  );
}

/** The arguments of a call, one text each, from its opening parenthesis on. */
function argumentsAt(code: string, start: number): string[] {
  const found = [''];
  let depth = 0;
  for (const character of code.slice(start)) {
    if (/[([{]/.test(character) && depth++ === 0) continue;
    if (/[)\]}]/.test(character) && --depth === 0) break;
    if (character === ',' && depth === 1) found.push('');
    else found[found.length - 1] += character;
  }
  return found.map((one) => one.trim());
}

/** The address that a request is sent to. A name is looked up where it was last given a value. */
function addressIn(written: readonly string[], before: string): string {
  const named = /\burl(?:: ([^,\n]+?))?(?:,| \}|\n)/.exec(written[1] ?? '');
  const address = named ? (named[1] ?? 'url') : (written[0] ?? '');
  if (!/^\w+$/.test(address)) return address;
  const values = matches(before, new RegExp(String.raw`const ${address} = ([^;]+);`, 'g'));
  return values.at(-1) ?? address;
}

/** Requests over HTTP, by whatever function here sends them. */
function requests(code: string): string[] {
  return [
    ...code.matchAll(/(?<!function |(?<!globalThis)\.)\b(fetch|googleRequest|signedUrl)\(/g),
  ].map((found) => {
    const written = argumentsAt(code, found.index + found[0].length - 1);
    const method = /\bmethod(?:: '(\w+)')?/.exec(written[1] ?? '');
    const verb = method ? (method[1] ?? 'method') : 'GET';
    return `${found[1]} ${verb} ${addressIn(written, code.slice(0, found.index))}`;
  });
}

/** Every call that the code of both functions can make, each once a file. */
export function findCalls(): FoundCall[] {
  const files = filesBelow(['functions/src', 'shared'], /\.ts$/).map((file) => ({
    file,
    code: withoutComments(textOf(file)),
  }));
  return files.flatMap(({ file, code }) => {
    const inLibraries = libraryCalls(code, importedBy(code));
    const calls = unique([...inLibraries, ...importedSenders(code), ...requests(code)]);
    return calls.map((call) => ({ file, call }));
  });
}
