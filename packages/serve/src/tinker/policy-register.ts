import { ApiError } from '../api-error.ts';
import type { Checkpoints } from './checkpoints.ts';
import { TrainedPolicy } from './policies.ts';
import type { Sessions } from './sessions.ts';
import type { PolicySettings, TinkerTrainer } from './trainer.ts';

/** A policy that a client asks for. */
export interface PolicyRequest extends Omit<PolicySettings, 'name'> {
  readonly sessionId: string;
  /** A second name, which the client gave. */
  readonly alias?: string | undefined;
}

interface RegisterSettings {
  readonly trainer: TinkerTrainer;
  readonly maxPolicies: number;
  readonly now: () => Date;
  readonly sessions: Sessions;
  readonly checkpoints: Checkpoints;
}

/** The policies that clients train, by their names. */
export class PolicyRegister {
  readonly #settings: RegisterSettings;
  readonly #policies = new Map<string, TrainedPolicy>();
  readonly #aliases = new Map<string, string>();
  /** Policies that get their names at the moment. */
  #named = 0;

  constructor(settings: RegisterSettings) {
    this.#settings = settings;
  }

  /**
   * Begins to make a policy. It is ready once {@link TrainedPolicy.ready} resolves.
   *
   * @throws ApiError 404 for a session that ended, 400 where as many policies as allowed are trained.
   */
  async create({ sessionId, alias, ...wanted }: PolicyRequest): Promise<TrainedPolicy> {
    const { trainer, sessions, checkpoints, now } = this.#settings;
    sessions.touch(sessionId);
    await this.#sweep();
    this.#requireRoom();
    this.#named += 1;
    const id = await checkpoints.newPolicy().finally(() => {
      this.#named -= 1;
    });
    const { rank, attention, mlp } = wanted;
    const facts = { id, sessionId, baseModel: trainer.modelName, rank, attention, mlp };
    const created = trainer.createPolicy({ ...wanted, name: id });
    const policy = new TrainedPolicy(facts, created, { checkpoints, now });
    this.#policies.set(id, policy);
    if (alias !== undefined) this.#aliases.set(alias, id);
    return policy;
  }

  /** @throws ApiError 404. */
  get(name: string): TrainedPolicy {
    const policy = this.find(name);
    if (policy !== undefined) return policy;
    throw new ApiError(404, `Model not found: ${name}; create it again and load its last checkpoint`);
  }

  find(name: string): TrainedPolicy | undefined {
    return this.#policies.get(this.#aliases.get(name) ?? name);
  }

  /** Forgets a policy, which is then the caller's to close. */
  remove({ facts: { id } }: TrainedPolicy): void {
    this.#policies.delete(id);
    for (const [alias, of] of this.#aliases) if (of === id) this.#aliases.delete(alias);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#policies.values()].map((policy) => policy.close()));
  }

  /** Ends the policies of sessions that gave no sign of life. */
  async #sweep(): Promise<void> {
    const ended = this.#settings.sessions.ended();
    for (const policy of [...this.#policies.values()]) {
      if (!ended.includes(policy.facts.sessionId)) continue;
      this.remove(policy);
      await policy.close();
    }
  }

  #requireRoom(): void {
    const { maxPolicies } = this.#settings;
    if (this.#policies.size + this.#named < maxPolicies) return;
    throw new ApiError(
      400,
      `this server trains ${maxPolicies} models at once; unload one, or raise maxPolicies`,
    );
  }
}
