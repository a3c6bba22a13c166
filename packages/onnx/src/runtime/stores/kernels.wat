;; SIMD kernels over float32 arrays in an imported memory. Pointers and counts are unsigned; $n counts elements.
;; Every kernel takes four or eight lanes at a time and then the elements that are left one by one.
;; Assembled into kernels-binary.ts by scripts/assemble-kernel.ts.
(module
  (import "host" "memory" (memory 0 65536))

  ;; g = factor gradient;  m <- beta1 m + (1-beta1) g;  v <- beta2 v + (1-beta2) g^2;
  ;; p <- keep p - rate m / (sqrt(v) root + epsilon)
  (func (export "adamw")
    (param $p i32) (param $g i32) (param $m i32) (param $v i32) (param $n i32)
    (param $beta1 f32) (param $rest1 f32) (param $beta2 f32) (param $rest2 f32)
    (param $rate f32) (param $root f32) (param $epsilon f32) (param $keep f32) (param $factor f32)
    (local $G v128) (local $M v128) (local $V v128) (local $gs f32) (local $ms f32) (local $vs f32)
    (block $done4
      (loop $next4
        (br_if $done4 (i32.lt_u (local.get $n) (i32.const 4)))
        (local.set $G (f32x4.mul (f32x4.splat (local.get $factor)) (v128.load (local.get $g))))
        (local.set $M (f32x4.add
          (f32x4.mul (f32x4.splat (local.get $beta1)) (v128.load (local.get $m)))
          (f32x4.mul (f32x4.splat (local.get $rest1)) (local.get $G))))
        (local.set $V (f32x4.add
          (f32x4.mul (f32x4.splat (local.get $beta2)) (v128.load (local.get $v)))
          (f32x4.mul (f32x4.splat (local.get $rest2)) (f32x4.mul (local.get $G) (local.get $G)))))
        (v128.store (local.get $m) (local.get $M))
        (v128.store (local.get $v) (local.get $V))
        (v128.store (local.get $p) (f32x4.sub
          (f32x4.mul (f32x4.splat (local.get $keep)) (v128.load (local.get $p)))
          (f32x4.div
            (f32x4.mul (f32x4.splat (local.get $rate)) (local.get $M))
            (f32x4.add
              (f32x4.mul (f32x4.sqrt (local.get $V)) (f32x4.splat (local.get $root)))
              (f32x4.splat (local.get $epsilon))))))
        (local.set $p (i32.add (local.get $p) (i32.const 16)))
        (local.set $g (i32.add (local.get $g) (i32.const 16)))
        (local.set $m (i32.add (local.get $m) (i32.const 16)))
        (local.set $v (i32.add (local.get $v) (i32.const 16)))
        (local.set $n (i32.sub (local.get $n) (i32.const 4)))
        (br $next4)))
    (block $done1
      (loop $next1
        (br_if $done1 (i32.eqz (local.get $n)))
        (local.set $gs (f32.mul (local.get $factor) (f32.load (local.get $g))))
        (local.set $ms (f32.add
          (f32.mul (local.get $beta1) (f32.load (local.get $m)))
          (f32.mul (local.get $rest1) (local.get $gs))))
        (local.set $vs (f32.add
          (f32.mul (local.get $beta2) (f32.load (local.get $v)))
          (f32.mul (local.get $rest2) (f32.mul (local.get $gs) (local.get $gs)))))
        (f32.store (local.get $m) (local.get $ms))
        (f32.store (local.get $v) (local.get $vs))
        (f32.store (local.get $p) (f32.sub
          (f32.mul (local.get $keep) (f32.load (local.get $p)))
          (f32.div
            (f32.mul (local.get $rate) (local.get $ms))
            (f32.add (f32.mul (f32.sqrt (local.get $vs)) (local.get $root)) (local.get $epsilon)))))
        (local.set $p (i32.add (local.get $p) (i32.const 4)))
        (local.set $g (i32.add (local.get $g) (i32.const 4)))
        (local.set $m (i32.add (local.get $m) (i32.const 4)))
        (local.set $v (i32.add (local.get $v) (i32.const 4)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next1))))

  ;; Sum of x^2, accumulated in float64. Four quarters of it are read at once: memory gives one stream a part of its speed only.
  (func (export "sumOfSquares") (param $x i32) (param $n i32) (result f64)
    (local $x1 i32) (local $x2 i32) (local $x3 i32) (local $quarter i32) (local $end i32)
    (local $X v128) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local $e v128) (local $f v128) (local $g v128) (local $h v128) (local $sum f64) (local $s f64)
    (local.set $quarter (i32.shl (i32.shr_u (local.get $n) (i32.const 4)) (i32.const 4)))
    (local.set $end (i32.add (local.get $x) (local.get $quarter)))
    (local.set $x1 (local.get $end))
    (local.set $x2 (i32.add (local.get $x1) (local.get $quarter)))
    (local.set $x3 (i32.add (local.get $x2) (local.get $quarter)))
    (local.set $n (i32.and (local.get $n) (i32.const 15)))
    (block $done16
      (loop $next16
        (br_if $done16 (i32.ge_u (local.get $x) (local.get $end)))
        (local.set $X (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $x))))
        (local.set $a (f64x2.add (local.get $a) (f64x2.mul (local.get $X) (local.get $X))))
        (local.set $X (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $x))))
        (local.set $b (f64x2.add (local.get $b) (f64x2.mul (local.get $X) (local.get $X))))
        (local.set $X (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $x1))))
        (local.set $c (f64x2.add (local.get $c) (f64x2.mul (local.get $X) (local.get $X))))
        (local.set $X (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $x1))))
        (local.set $d (f64x2.add (local.get $d) (f64x2.mul (local.get $X) (local.get $X))))
        (local.set $X (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $x2))))
        (local.set $e (f64x2.add (local.get $e) (f64x2.mul (local.get $X) (local.get $X))))
        (local.set $X (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $x2))))
        (local.set $f (f64x2.add (local.get $f) (f64x2.mul (local.get $X) (local.get $X))))
        (local.set $X (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $x3))))
        (local.set $g (f64x2.add (local.get $g) (f64x2.mul (local.get $X) (local.get $X))))
        (local.set $X (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $x3))))
        (local.set $h (f64x2.add (local.get $h) (f64x2.mul (local.get $X) (local.get $X))))
        (local.set $x (i32.add (local.get $x) (i32.const 16)))
        (local.set $x1 (i32.add (local.get $x1) (i32.const 16)))
        (local.set $x2 (i32.add (local.get $x2) (i32.const 16)))
        (local.set $x3 (i32.add (local.get $x3) (i32.const 16)))
        (br $next16)))
    (local.set $a (f64x2.add (f64x2.add (local.get $a) (local.get $b)) (f64x2.add (local.get $c) (local.get $d))))
    (local.set $e (f64x2.add (f64x2.add (local.get $e) (local.get $f)) (f64x2.add (local.get $g) (local.get $h))))
    (local.set $a (f64x2.add (local.get $a) (local.get $e)))
    (local.set $sum (f64.add (f64x2.extract_lane 0 (local.get $a)) (f64x2.extract_lane 1 (local.get $a))))
    (block $done1
      (loop $next1
        (br_if $done1 (i32.eqz (local.get $n)))
        (local.set $s (f64.promote_f32 (f32.load (local.get $x3))))
        (local.set $sum (f64.add (local.get $sum) (f64.mul (local.get $s) (local.get $s))))
        (local.set $x3 (i32.add (local.get $x3) (i32.const 4)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next1)))
    (local.get $sum))

  ;; y <- a y + b x
  (func (export "combine") (param $y i32) (param $x i32) (param $n i32) (param $a f32) (param $b f32)
    (block $done4
      (loop $next4
        (br_if $done4 (i32.lt_u (local.get $n) (i32.const 4)))
        (v128.store (local.get $y) (f32x4.add
          (f32x4.mul (f32x4.splat (local.get $a)) (v128.load (local.get $y)))
          (f32x4.mul (f32x4.splat (local.get $b)) (v128.load (local.get $x)))))
        (local.set $y (i32.add (local.get $y) (i32.const 16)))
        (local.set $x (i32.add (local.get $x) (i32.const 16)))
        (local.set $n (i32.sub (local.get $n) (i32.const 4)))
        (br $next4)))
    (block $done1
      (loop $next1
        (br_if $done1 (i32.eqz (local.get $n)))
        (f32.store (local.get $y) (f32.add
          (f32.mul (local.get $a) (f32.load (local.get $y)))
          (f32.mul (local.get $b) (f32.load (local.get $x)))))
        (local.set $y (i32.add (local.get $y) (i32.const 4)))
        (local.set $x (i32.add (local.get $x) (i32.const 4)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next1))))

  ;; out <- scale values[codes]
  (func (export "decode") (param $codes i32) (param $out i32) (param $n i32) (param $values i32) (param $scale f32)
    (block $done1
      (loop $next1
        (br_if $done1 (i32.eqz (local.get $n)))
        (f32.store (local.get $out) (f32.mul (local.get $scale)
          (f32.load (i32.add (local.get $values) (i32.shl (i32.load8_u (local.get $codes)) (i32.const 2))))))
        (local.set $codes (i32.add (local.get $codes) (i32.const 1)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next1))))

  ;; Divides x by its largest magnitude, which it returns, and writes the codes. $n is a multiple of 4. $first has a code for the
  ;; upper 16 bits of a float32 from $smallest on, $count for positive numbers and as many for negative ones.
  (func (export "encode")
    (param $x i32) (param $codes i32) (param $n i32) (param $first i32) (param $borders i32) (param $smallest i32)
    (param $count i32) (result f32)
    (local $at i32) (local $end i32) (local $M v128) (local $scale f32) (local $bits i32) (local $place i32) (local $code i32)
    (local.set $M (f32x4.splat (f32.const 1e-12)))
    (local.set $at (local.get $x))
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $n) (i32.const 2))))
    (block $doneMax
      (loop $nextMax
        (br_if $doneMax (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $M (f32x4.max (local.get $M) (f32x4.abs (v128.load (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $nextMax)))
    (local.set $scale (f32.max
      (f32.max (f32x4.extract_lane 0 (local.get $M)) (f32x4.extract_lane 1 (local.get $M)))
      (f32.max (f32x4.extract_lane 2 (local.get $M)) (f32x4.extract_lane 3 (local.get $M)))))
    (local.set $M (f32x4.splat (local.get $scale)))
    (local.set $at (local.get $x))
    (block $doneDiv
      (loop $nextDiv
        (br_if $doneDiv (i32.ge_u (local.get $at) (local.get $end)))
        (v128.store (local.get $at) (f32x4.div (v128.load (local.get $at)) (local.get $M)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $nextDiv)))
    (local.set $at (local.get $x))
    (block $done1
      (loop $next1
        (br_if $done1 (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $bits (i32.load (local.get $at)))
        (local.set $place (i32.sub
          (i32.and (i32.shr_u (local.get $bits) (i32.const 16)) (i32.const 0x7fff)) (local.get $smallest)))
        (local.set $place (select (local.get $place) (i32.const 0) (i32.gt_s (local.get $place) (i32.const 0))))
        (local.set $place (i32.add (local.get $place)
          (select (local.get $count) (i32.const 0) (i32.lt_s (local.get $bits) (i32.const 0)))))
        (local.set $code (i32.load8_u (i32.add (local.get $first) (local.get $place))))
        (i32.store8 (local.get $codes) (i32.add (local.get $code)
          (f32.ge (f32.load (local.get $at))
            (f32.load (i32.add (local.get $borders) (i32.shl (local.get $code) (i32.const 2)))))))
        (local.set $codes (i32.add (local.get $codes) (i32.const 1)))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br $next1)))
    (local.get $scale)))
