/** A store of weights that a trainer and a sampler can have in common. */
export interface SharedWeights {
  /** Identity of the engine: the same object for everybody who computes in it. */
  readonly engine: object;
  /** Name of the store in it. */
  readonly store: string;
}

/** New weights, in a form that a sampler can take over. */
export type WeightPublication =
  /** The sampler's engine already holds them. Taking them over is a version number, not a copy. */
  | ({ readonly kind: 'shared'; readonly version: number } & SharedWeights)
  /** A directory with a low-rank correction in PEFT's files, and the model that it corrects, if known. */
  | {
      readonly kind: 'adapter';
      readonly version: number;
      readonly path: string;
      readonly baseModel?: string | undefined;
    }
  /** A directory with safetensors files in Hugging Face names. */
  | { readonly kind: 'checkpoint'; readonly version: number; readonly path: string };

/** A form of {@link WeightPublication}. */
export type PublicationForm = WeightPublication['kind'];

/** Options of `publish`. */
export interface PublishOptions {
  /** Form of the publication, one that the sampler accepts. Required. */
  readonly as: PublicationForm;
  /** Directory for `adapter` and `checkpoint`, which trainer and sampler can both reach. Default: none, for `shared`. */
  readonly directory?: string | undefined;
}
