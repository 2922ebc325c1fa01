; work.lisp: compiled code, functions that tell by a flag how many values they return, faults as conditions, threads, the collector.
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun one-or-three (x) (if (oddp x) (values x 1 2) x))
(defun first-of (x) (car x))
(format t "~a ~a~%" (fib 27) (multiple-value-list (floor 17 5)))
(format t "~a~%" (loop for i below 1000 sum (length (multiple-value-list (one-or-three i)))))
(let ((table (make-hash-table :test 'equal)))
  (dotimes (i 100000) (setf (gethash (format nil "~a" i) table) i))
  (gc :full t)
  (format t "~a~%" (hash-table-count table)))
(handler-case (first-of (parse-integer "5")) (type-error () (format t "type error~%")))
(handler-case (/ 1 (parse-integer "0")) (division-by-zero () (format t "division by zero~%")))
(format t "~a~%"
        (mapcar #'sb-thread:join-thread
                (loop for i below 4
                      collect (let ((i i)) (sb-thread:make-thread (lambda () (loop for j below 300000 sum (mod (* i j) 5))))))))
