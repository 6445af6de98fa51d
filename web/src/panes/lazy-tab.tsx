import { useSignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import type { App } from '../state/app.ts';

type Tab = FunctionComponent<{ app: App }>;

/** A tab that is fetched when it is shown for the first time. */
export function LazyTab({ app, load }: { app: App; load: () => Promise<Tab> }) {
  const loaded = useSignal<{ Tab: Tab } | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    load().then(
      (Tab) => (loaded.value = { Tab }),
      // The page was built anew meanwhile, or the network is gone: a reload helps.
      (error: unknown) => (problem.value = String(error)),
    );
  }, [load]);
  if (problem.value !== undefined) return <p role="alert">{problem.value}</p>;
  if (!loaded.value) return <p class="quiet">{app.texts.value.transcript.loading}</p>;
  const { Tab } = loaded.value;
  return <Tab app={app} />;
}
