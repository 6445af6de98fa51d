import { describe, expect, onTestFinished, test } from 'vitest';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { startSweepSchedule } from '#infra/local/sweep-schedule.ts';
import { eventually } from '../support/eventually.ts';

describe('the schedule of sweeps', () => {
  test('the sweep schedule publishes until it is stopped, whatever earlier publishes gave', async () => {
    const failures: unknown[] = [];
    let published = 0;
    const schedule = startSweepSchedule({
      everySeconds: 0.005,
      publish: () => {
        published += 1;
        return published === 1 ? Promise.reject(new Error('away')) : Promise.resolve();
      },
      onFailure: (error) => failures.push(error),
    });

    await eventually('three sweeps', async () => (published >= 3 ? true : undefined));
    await schedule.stop();

    const atStop = published;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(published).toBe(atStop);
    expect(failures).toEqual([new Error('away')]);
  });

  test('the sweep schedule publishes nothing before its time and stops at once', async () => {
    let published = 0;
    const schedule = startSweepSchedule({
      everySeconds: 300,
      publish: async () => void (published += 1),
    });

    await schedule.stop();

    expect(published).toBe(0);
  });

  test('a sweep schedule of zero seconds never publishes', async () => {
    let published = 0;
    const schedule = startSweepSchedule({
      everySeconds: 0,
      publish: async () => void (published += 1),
    });

    await new Promise((resolve) => setTimeout(resolve, 20));
    await schedule.stop();

    expect(published).toBe(0);
  });

  test('the sweep schedule makes the embedded worker sweep', async () => {
    const events: string[] = [];
    const host = await startEmbeddedHost({
      environment: stackEnvironment({
        shell: {},
        model: { kind: 'stand-in' },
        fakeGeminiUrl: 'http://127.0.0.1:9',
      }),
      sweepSeconds: 0.05,
      overrides: { logger: { log: (_, event) => events.push(event) } },
    });
    onTestFinished(() => host.stop());

    await eventually('two sweeps', async () =>
      events.filter((event) => event === 'sweep_finished').length >= 2 ? true : undefined,
    );

    expect(new Set(events)).toEqual(new Set(['sweep_finished']));
  });
});
