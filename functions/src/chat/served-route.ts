import { once } from '#shared/once.ts';
import type { Route } from './route.ts';

type Method = Route['method'];

/** One address, and how to come by the declaration that serves it. */
export interface ServedRoute {
  method: Method;
  /** AIP form, e.g. `/v1/conversations/{conversationId}:compact`. */
  path: string;
  /** The declaration with its schemas, made when it is first asked for and kept. */
  load: () => Promise<Route>;
}

/** The routes of a file by their names, each with its method and its paths, the usual one first. */
export function served<Name extends string>(
  load: () => Promise<Record<NoInfer<Name>, Route>>,
  places: Readonly<Record<Name, readonly [Method, ...paths: string[]]>>,
): ServedRoute[] {
  const routes: ServedRoute[] = [];
  for (const name in places) {
    const [method, ...paths] = places[name];
    const route = once(async () => (await load())[name]);
    routes.push(...paths.map((path) => ({ method, path, load: route })));
  }
  return routes;
}
