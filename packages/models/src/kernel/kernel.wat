;; SIMD kernels over pieces of weights in a memory of their own. kernel.ts says where pieces lie. Pointers are in bytes, $n and
;; $blocks count elements and blocks of 64. Assembled into kernel-binary.ts by scripts/assemble-kernel.ts.
(module
  (memory (export "memory") 6)

  ;; out <- x, bfloat16 to float32. $n is a multiple of 8.
  (func (export "widenBrain") (param $x i32) (param $out i32) (param $n i32)
    (local $end i32) (local $v v128) (local $zero v128)
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 1))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $x) (local.get $end)))
        (local.set $v (v128.load (local.get $x)))
        (v128.store (local.get $out)
          (i8x16.shuffle 0 1 16 17 2 3 18 19 4 5 20 21 6 7 22 23 (local.get $zero) (local.get $v)))
        (v128.store offset=16 (local.get $out)
          (i8x16.shuffle 8 9 24 25 10 11 26 27 12 13 28 29 14 15 30 31 (local.get $zero) (local.get $v)))
        (local.set $x (i32.add (local.get $x) (i32.const 16)))
        (local.set $out (i32.add (local.get $out) (i32.const 32)))
        (br $next))))

  ;; Four halves in lanes of 32 bits as float32. A product with 2^112 moves exponents, of subnormal numbers too.
  (func $floats (param $h v128) (result v128)
    (local $size v128)
    (local.set $size (v128.and (local.get $h) (v128.const i32x4 0x7fff 0x7fff 0x7fff 0x7fff)))
    (v128.or
      (v128.or
        (i32x4.shl (v128.and (local.get $h) (v128.const i32x4 0x8000 0x8000 0x8000 0x8000)) (i32.const 16))
        (f32x4.mul (i32x4.shl (local.get $size) (i32.const 13)) (f32x4.splat (f32.const 0x1p112))))
      (v128.and
        (i32x4.ge_s (local.get $size) (v128.const i32x4 0x7c00 0x7c00 0x7c00 0x7c00))
        (v128.const i32x4 0x7f800000 0x7f800000 0x7f800000 0x7f800000))))

  ;; out <- x, float16 to float32. $n is a multiple of 8.
  (func (export "widenHalf") (param $x i32) (param $out i32) (param $n i32)
    (local $end i32) (local $v v128)
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 1))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $x) (local.get $end)))
        (local.set $v (v128.load (local.get $x)))
        (v128.store (local.get $out) (call $floats (i32x4.extend_low_i16x8_u (local.get $v))))
        (v128.store offset=16 (local.get $out) (call $floats (i32x4.extend_high_i16x8_u (local.get $v))))
        (local.set $x (i32.add (local.get $x) (i32.const 16)))
        (local.set $out (i32.add (local.get $out) (i32.const 32)))
        (br $next))))

  ;; Bits of the largest size among $n numbers, a multiple of 16: above 0x7f7fffff if one is not finite.
  (func $largest (export "largest") (param $x i32) (param $n i32) (result i32)
    (local $end i32) (local $m v128) (local $k v128) (local $size v128)
    (local.set $size (v128.const i32x4 0x7fffffff 0x7fffffff 0x7fffffff 0x7fffffff))
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $x) (local.get $end)))
        (local.set $m (i32x4.max_u (local.get $m) (i32x4.max_u
          (v128.and (v128.load (local.get $x)) (local.get $size))
          (v128.and (v128.load offset=16 (local.get $x)) (local.get $size)))))
        (local.set $k (i32x4.max_u (local.get $k) (i32x4.max_u
          (v128.and (v128.load offset=32 (local.get $x)) (local.get $size))
          (v128.and (v128.load offset=48 (local.get $x)) (local.get $size)))))
        (local.set $x (i32.add (local.get $x) (i32.const 64)))
        (br $next)))
    (local.set $m (i32x4.max_u (local.get $m) (local.get $k)))
    (local.set $m (i32x4.max_u (local.get $m)
      (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $m) (local.get $m))))
    (local.set $m (i32x4.max_u (local.get $m)
      (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $m) (local.get $m))))
    (i32x4.extract_lane 0 (local.get $m)))

  ;; The largest size of a block. NaN if a number is not finite.
  (func $largestOf (param $x i32) (result f32)
    (local $bits i32)
    (local.set $bits (call $largest (local.get $x) (i32.const 64)))
    (select
      (f32.const nan)
      (f32.reinterpret_i32 (local.get $bits))
      (i32.gt_u (local.get $bits) (i32.const 0x7f7fffff))))

  ;; The inverse of a scale. 0 for those of 0 and NaN.
  (func $inverseOf (param $scale f32) (result f64)
    (select
      (f64.div (f64.const 1) (f64.promote_f32 (local.get $scale)))
      (f64.const 0)
      (f32.gt (local.get $scale) (f32.const 0))))

  ;; Four numbers to whole ones, by float64: x inverse + 128.5 without its fraction.
  (func $rounded (param $x v128) (param $inverse v128) (result v128)
    (local $half v128)
    (local.set $half (v128.const f64x2 128.5 128.5))
    (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
      (i32x4.trunc_sat_f64x2_s_zero (f64x2.add (local.get $half)
        (f64x2.mul (f64x2.promote_low_f32x4 (local.get $x)) (local.get $inverse))))
      (i32x4.trunc_sat_f64x2_s_zero (f64x2.add (local.get $half)
        (f64x2.mul
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x)))
          (local.get $inverse))))))

  ;; Blocks in 8 bits, as quantizeInt8 describes.
  (func (export "roundInt8") (param $x i32) (param $bytes i32) (param $scales i32) (param $blocks i32)
    (local $end i32) (local $scale f32) (local $inverse v128)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $blocks)))
        (local.set $scale (f32.demote_f64
          (f64.div (f64.promote_f32 (call $largestOf (local.get $x))) (f64.const 127))))
        (f32.store (local.get $scales) (local.get $scale))
        (local.set $inverse (f64x2.splat (call $inverseOf (local.get $scale))))
        (local.set $end (i32.add (local.get $x) (i32.const 256)))
        (loop $more
          (v128.store (local.get $bytes) (i8x16.narrow_i16x8_u
            (i16x8.narrow_i32x4_s
              (call $rounded (v128.load (local.get $x)) (local.get $inverse))
              (call $rounded (v128.load offset=16 (local.get $x)) (local.get $inverse)))
            (i16x8.narrow_i32x4_s
              (call $rounded (v128.load offset=32 (local.get $x)) (local.get $inverse))
              (call $rounded (v128.load offset=48 (local.get $x)) (local.get $inverse)))))
          (local.set $bytes (i32.add (local.get $bytes) (i32.const 16)))
          (local.set $x (i32.add (local.get $x) (i32.const 64)))
          (br_if $more (i32.lt_u (local.get $x) (local.get $end))))
        (local.set $scales (i32.add (local.get $scales) (i32.const 4)))
        (local.set $blocks (i32.sub (local.get $blocks) (i32.const 1)))
        (br $next))))

  ;; thresholds <- the largest float32 x of which x inverse, in float64, is not above a limit, for 16 limits. That is the product of limit
  ;; and scale, or the number before it.
  (func $place (param $limits i32) (param $thresholds i32) (param $scale v128) (param $inverse v128)
    (local $end i32) (local $limit v128) (local $t v128) (local $above v128)
    (local.set $end (i32.add (local.get $limits) (i32.const 128)))
    (loop $next
      (local.set $limit (v128.load (local.get $limits)))
      (local.set $t (f32x4.demote_f64x2_zero (f64x2.mul (local.get $limit) (local.get $scale))))
      (local.set $above (f64x2.gt
        (f64x2.mul (f64x2.promote_low_f32x4 (local.get $t)) (local.get $inverse)) (local.get $limit)))
      (v128.store64_lane 0 (local.get $thresholds) (i32x4.sub (local.get $t) (v128.and
        (i8x16.shuffle 0 1 2 3 8 9 10 11 0 1 2 3 8 9 10 11 (local.get $above) (local.get $above))
        (v128.or (i32x4.shr_s (local.get $t) (i32.const 31)) (v128.const i32x4 1 1 1 1)))))
      (local.set $limits (i32.add (local.get $limits) (i32.const 16)))
      (local.set $thresholds (i32.add (local.get $thresholds) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $limits) (local.get $end)))))

  ;; Blocks in 4 bits, as quantizeNf4 describes. $limits has 15 limits in float64 and room for another; room for 16 thresholds follows.
  (func (export "roundNf4")
    (param $x i32) (param $bytes i32) (param $scales i32) (param $blocks i32) (param $limits i32)
    (local $end i32) (local $scale f32) (local $at i32) (local $last i32) (local $t v128)
    (local $x0 v128) (local $x1 v128) (local $x2 v128) (local $x3 v128)
    (local $c0 v128) (local $c1 v128) (local $c2 v128) (local $c3 v128)
    (local.set $last (i32.add (local.get $limits) (i32.const 188)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $blocks)))
        (local.set $scale (call $largestOf (local.get $x)))
        (f32.store (local.get $scales) (local.get $scale))
        (call $place (local.get $limits) (i32.add (local.get $limits) (i32.const 128))
          (f64x2.splat (f64.promote_f32 (local.get $scale)))
          (f64x2.splat (call $inverseOf (local.get $scale))))
        (local.set $end (i32.add (local.get $x) (i32.const 256)))
        (loop $more
          (local.set $x0 (v128.load (local.get $x)))
          (local.set $x1 (v128.load offset=16 (local.get $x)))
          (local.set $x2 (v128.load offset=32 (local.get $x)))
          (local.set $x3 (v128.load offset=48 (local.get $x)))
          (local.set $c0 (v128.const i32x4 0 0 0 0))
          (local.set $c1 (v128.const i32x4 0 0 0 0))
          (local.set $c2 (v128.const i32x4 0 0 0 0))
          (local.set $c3 (v128.const i32x4 0 0 0 0))
          (local.set $at (i32.add (local.get $limits) (i32.const 128)))
          ;; A code is how many thresholds a number is above.
          (loop $count
            (local.set $t (v128.load32_splat (local.get $at)))
            (local.set $c0 (i32x4.sub (local.get $c0) (f32x4.gt (local.get $x0) (local.get $t))))
            (local.set $c1 (i32x4.sub (local.get $c1) (f32x4.gt (local.get $x1) (local.get $t))))
            (local.set $c2 (i32x4.sub (local.get $c2) (f32x4.gt (local.get $x2) (local.get $t))))
            (local.set $c3 (i32x4.sub (local.get $c3) (f32x4.gt (local.get $x3) (local.get $t))))
            (local.set $at (i32.add (local.get $at) (i32.const 4)))
            (br_if $count (i32.lt_u (local.get $at) (local.get $last))))
          (local.set $c0 (i8x16.narrow_i16x8_u
            (i16x8.narrow_i32x4_s (local.get $c0) (local.get $c1))
            (i16x8.narrow_i32x4_s (local.get $c2) (local.get $c3))))
          ;; The first of two codes becomes the upper half of a byte.
          (local.set $c0 (v128.or
            (v128.and (i16x8.shl (local.get $c0) (i32.const 4)) (v128.const i16x8 0xf0 0xf0 0xf0 0xf0 0xf0 0xf0 0xf0 0xf0))
            (i16x8.shr_u (local.get $c0) (i32.const 8))))
          (v128.store64_lane 0 (local.get $bytes) (i8x16.narrow_i16x8_u (local.get $c0) (local.get $c0)))
          (local.set $bytes (i32.add (local.get $bytes) (i32.const 8)))
          (local.set $x (i32.add (local.get $x) (i32.const 64)))
          (br_if $more (i32.lt_u (local.get $x) (local.get $end))))
        (local.set $scales (i32.add (local.get $scales) (i32.const 4)))
        (local.set $blocks (i32.sub (local.get $blocks) (i32.const 1)))
        (br $next)))))
